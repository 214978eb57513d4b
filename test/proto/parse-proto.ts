/** An API as data: the shape of `cri-fields.json`. */
export interface Api {
  readonly messages: Readonly<Record<string, Readonly<Record<string, Field>>>>;
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly services: Readonly<Record<string, Readonly<Record<string, Call>>>>;
}

export interface Field {
  readonly number: number;
  readonly type: string;
}

export interface Call {
  readonly request: string;
  readonly response: string;
  readonly serverStreams: boolean;
}

/**
 * Reads the few forms that `cri.proto` uses: top-level blocks, one declaration a line, no nesting. Throws at any line that
 * it does not know, so that nothing is passed over in silence.
 */
export function parseProto(text: string): Api {
  const messages: Record<string, Record<string, Field>> = {};
  const enums: Record<string, Record<string, number>> = {};
  const services: Record<string, Record<string, Call>> = {};
  let block: ((line: string) => boolean) | null = null;
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\/\/.*/, '').trim();
    if (line === '' || /^(syntax|package) /.test(line)) continue;
    const [, kind, name, end] = /^(message|enum|service) (\w+) \{(\})?$/.exec(line) ?? [];
    if (kind !== undefined && name !== undefined) {
      if (kind === 'message') block = fieldsInto((messages[name] = {}));
      if (kind === 'enum') block = valuesInto((enums[name] = {}));
      if (kind === 'service') block = callsInto((services[name] = {}));
      if (end !== undefined) block = null;
    } else if (line === '}') {
      block = null;
    } else if (block === null || !block(line)) {
      throw new Error(`Cannot read the protocol file as this form is not known: ${raw}`);
    }
  }
  return { messages, enums, services };
}

function fieldsInto(fields: Record<string, Field>) {
  return (line: string): boolean => {
    const [, type, name, number] = /^((?:repeated )?[\w.]+|map<\w+, ?\w+>) (\w+) = (\d+);$/.exec(line) ?? [];
    if (type === undefined || name === undefined) return false;
    fields[name] = { number: Number(number), type: type.replace(', ', ',') };
    return true;
  };
}

function valuesInto(values: Record<string, number>) {
  return (line: string): boolean => {
    const [, name, number] = /^(\w+) = (\d+);$/.exec(line) ?? [];
    if (name === undefined) return false;
    values[name] = Number(number);
    return true;
  };
}

function callsInto(calls: Record<string, Call>) {
  return (line: string): boolean => {
    const [, name, request, streams, response] = /^rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\);$/.exec(line) ?? [];
    if (name === undefined || request === undefined || response === undefined) return false;
    calls[name] = { request, response, serverStreams: streams !== undefined };
    return true;
  };
}
