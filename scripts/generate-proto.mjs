// Generates src/proto/generated from src/proto/*.proto with buf and ts-proto. --check: fails when what is committed differs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const check = process.argv.includes('--check');
const out = check ? mkdtempSync(join(tmpdir(), 'reclaimd-proto-')) : join(root, 'src/proto/generated');
const template = {
  version: 'v2',
  plugins: [
    {
      local: join(root, 'node_modules/.bin/protoc-gen-ts_proto'),
      out,
      opt: [
        'outputServices=grpc-js',
        'forceLong=bigint',
        'importSuffix=.js',
        'esModuleInterop=true',
        'enumsAsLiterals=true',
        'outputJsonMethods=false',
        'outputPartialMethods=true',
      ],
    },
  ],
};
execFileSync(join(root, 'node_modules/.bin/buf'), ['generate', '--template', JSON.stringify(template), 'src/proto'], {
  cwd: root,
  stdio: 'inherit',
});
if (check) {
  const outdated = readdirSync(out).filter((name) => {
    const committed = join(root, 'src/proto/generated', name);
    return !existsSync(committed) || readFileSync(join(out, name), 'utf8') !== readFileSync(committed, 'utf8');
  });
  rmSync(out, { recursive: true });
  if (outdated.length > 0) {
    console.error(
      `Cannot accept src/proto/generated as it must be what src/proto generates: run npm run generate: ${outdated.join(', ')}`,
    );
    process.exit(1);
  }
}
