/** One step of a container's program. */
export type Step =
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'write'; readonly path: string; readonly size: number }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'trap'; readonly onTerm: 'ignore' | { readonly exit: number } }
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'forever'; readonly body: readonly Step[] }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly name: string };

/**
 * Reads a command line as steps. The embedded runtime has no shell: it knows `sleep`, `dd of= bs= count=`, `echo`,
 * `exit`, `true`, `trap … TERM`, `sync`, `while true; do …; done` and `sh -c` of these, which is what the programs of small test
 * pods are made of. Anything else ends the container with 127, as a shell does that finds no such command.
 */
export function parseProgram(words: readonly string[]): readonly Step[] {
  const [first, second, script] = words;
  if (first === undefined) return [{ kind: 'sleep', ms: Infinity }];
  if (/(^|\/)(sh|ash|bash)$/.test(first) && second === '-c' && script !== undefined) return parseScript(script);
  return [parseCommand(words)];
}

function parseScript(script: string): readonly Step[] {
  const loop = /^(?<before>.*?)(?:^|[;\n]\s*)while\s+(?::|true)\s*;\s*do\s+(?<body>.*?);?\s*done\s*;?\s*$/s.exec(
    script.trim(),
  );
  if (loop?.groups !== undefined) {
    return [
      ...parseStatements(loop.groups['before'] ?? ''),
      { kind: 'forever', body: parseStatements(loop.groups['body'] ?? '') },
    ];
  }
  return parseStatements(script);
}

function parseStatements(script: string): readonly Step[] {
  return splitStatements(script).map((statement) => parseCommand(splitWords(statement)));
}

/** Splits at `;`, `&&` and line ends that are not inside quotes. */
function splitStatements(script: string): readonly string[] {
  const pieces = script.match(/(?:'[^']*'|"[^"]*"|(?<!&)&(?!&)|[^;&\n'"])+/g) ?? [];
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

/** Redirections are left out: what dd says goes nowhere in any case. */
function splitWords(statement: string): readonly string[] {
  const words = statement.replace(/\s[12&]?>\s*\/dev\/null|\s2>&1/g, '');
  return (words.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
}

function parseCommand(words: readonly string[]): Step {
  const [path = '', ...rest] = words[0] === 'exec' ? words.slice(1) : words;
  const name = path.slice(path.lastIndexOf('/') + 1);
  switch (name) {
    case 'sleep':
      return { kind: 'sleep', ms: rest[0] === 'infinity' ? Infinity : Number(rest[0]) * 1000 };
    case 'dd':
      return parseDd(rest);
    case 'echo':
      return { kind: 'print', text: rest.join(' ') };
    case 'exit':
      return { kind: 'exit', code: Number(rest[0] ?? 0) };
    case 'false':
      return { kind: 'exit', code: 1 };
    case 'trap':
      return parseTrap(rest);
    case 'pause':
      return { kind: 'sleep', ms: Infinity };
    case 'sync':
    case 'true':
    case ':':
      return { kind: 'nothing' };
    default:
      return { kind: 'unknown', name };
  }
}

function parseDd(operands: readonly string[]): Step {
  const values = new Map(operands.map((operand) => operand.split('=', 2) as [string, string]));
  const path = values.get('of');
  const size = parseSize(values.get('bs') ?? '512') * Number(values.get('count') ?? Infinity);
  return path === undefined ? { kind: 'unknown', name: 'dd without of=' } : { kind: 'write', path, size };
}

function parseSize(text: string): number {
  const found = /^(\d+)([kKMG]?)B?$/.exec(text);
  const factor = { '': 1, k: 1024, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[found?.[2] ?? ''] ?? 1;
  return Number(found?.[1] ?? Number.NaN) * factor;
}

function parseTrap([action = '', ...signals]: readonly string[]): Step {
  if (!signals.some((signal) => signal === 'TERM' || signal === 'SIGTERM' || signal === '15'))
    return { kind: 'nothing' };
  const exit = /^exit(?:\s+(\d+))?$/.exec(action.trim());
  return { kind: 'trap', onTerm: exit === null ? 'ignore' : { exit: Number(exit[1] ?? 0) } };
}
