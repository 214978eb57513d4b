import tseslint from 'typescript-eslint';

// Names of the real clock, randomness and timers: the core gets them passed in (see src/ARCHITECTURE.md).
const AMBIENT = [
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: 'Take `now` as an argument.' },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take `now` as an argument.' },
  { selector: "MemberExpression[object.name='Math'][property.name='random']", message: 'Take randomness as an argument.' },
  { selector: "CallExpression[callee.name=/^set(Timeout|Interval|Immediate)$/]", message: 'Use the Clock port.' },
];

export default tseslint.config(
  { ignores: ['build/**', 'dist/**', 'coverage/**', 'src/proto/generated/**'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: new URL('..', import.meta.url).pathname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'prefer-const': 'error',
      eqeqeq: ['error', 'always'],
      'no-restricted-syntax': ['error', { selector: 'ExportAllDeclaration', message: 'Import the file itself: no barrels.' }],
    },
  },
  {
    files: ['src/{units,eviction,gc,ports,reclaim,manager,config}/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...AMBIENT] },
  },
);
