import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'
import { docOf, programOf } from './type-tables.ts'

const entries = [
  {
    title: '# Functions and classes',
    text: 'What `allium` exports for applications, made from the sources. The layers are on the pages of their packs.',
    path: 'allium/src/index.ts',
  },
  {
    title: '## For authors of layers',
    text: 'What `allium/pack` and `@allium/core` export. The latter also has all that `allium` exports from the core.',
    path: 'allium/src/pack.ts',
  },
  {
    title: '## Functions that take a context',
    text: 'What `allium/context` and `@allium/core/context` export: [scopes and contexts](../concepts/scopes-and-contexts.md#functions-that-take-a-context).',
    path: 'allium/src/context.ts',
  },
  { title: '## For the AI SDK', text: 'What `allium/ai-sdk` exports.', path: 'allium/src/ai-sdk.ts' },
  { title: '## For authors of stores', text: 'What `@allium/store` exports.', path: 'store/src/index.ts' },
].map((entry) => ({ ...entry, path: join(root, 'packages', entry.path) }))

/** The page of all functions, classes and values that applications, layers and stores import, with their types and docstrings. */
export function functionReference(): string {
  const program = programOf(entries.map(({ path }) => path))
  const checker = program.getTypeChecker()
  const rows = (symbols: readonly ts.Symbol[]) =>
    symbols.filter((symbol) => !isModule(symbol)).map((symbol) => row(checker, symbol))
  const sections = entries.flatMap(({ title, text, path }) => [
    ...[title, '', text, '', ...titles],
    ...[...rows(exportsOf(program, path)), ''],
  ])
  const option = entries.flatMap(({ path }) => exportsOf(program, path)).find(isOptionChecks)
  return [
    ...sections,
    '## Checks of options',
    '',
    '`option.*` are the checks that `layerOptions` takes, one for each option of a factory: [write a pack](../guide/write-a-pack.md).',
    '',
    ...titles,
    ...rows(option === undefined ? [] : valuesOf(checker, option)),
    '',
  ].join('\n')
}

/** A namespace: a pack, or `option`. */
function isModule({ name }: ts.Symbol): boolean {
  return name.startsWith('"')
}

/** The namespace `option`. */
function isOptionChecks({ name }: ts.Symbol): boolean {
  return name.endsWith('option-checks"')
}

function exportsOf(program: ts.Program, index: string): ts.Symbol[] {
  const source = program.getSourceFile(index)
  const exported = source && program.getTypeChecker().getSymbolAtLocation(source)
  if (exported === undefined) throw new Error(`${index} exports nothing.`)
  return valuesOf(program.getTypeChecker(), exported)
}

const titles = ['| name | type | what it does |', '|---|---|---|']
/** What a module exports that is there at run time. */
function valuesOf(checker: ts.TypeChecker, module: ts.Symbol): ts.Symbol[] {
  const symbols = checker.getExportsOfModule(resolved(checker, module)).map((symbol) => resolved(checker, symbol))
  return symbols
    .filter(({ flags }) => (flags & (ts.SymbolFlags.Value | ts.SymbolFlags.NamespaceModule)) !== 0)
    .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

function row(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const doc = firstSentences(docOf(checker, symbol))
  return `| \`${symbol.name}\` | ${typeOf(checker, symbol)} | ${escaped(doc)} |`
}

function typeOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  if ((symbol.flags & ts.SymbolFlags.Class) !== 0) return 'class'
  const signatures = checker.getTypeOfSymbol(symbol).getCallSignatures()
  if (signatures.length === 0) return 'value'
  const [first] = signatures
  const names =
    first
      ?.getParameters()
      .map((one) => `${one.name.startsWith('__') ? 'options' : one.name}${isOptional(one) ? '?' : ''}`) ?? []
  return `\`(${names.join(', ')})\``
}

function isOptional({ valueDeclaration }: ts.Symbol): boolean {
  if (valueDeclaration === undefined || !ts.isParameter(valueDeclaration)) return false
  return valueDeclaration.questionToken !== undefined || valueDeclaration.initializer !== undefined
}

/** As far as a table takes it: the first two sentences. */
function firstSentences(doc: string): string {
  return doc
    .split(/(?<=[.:]) (?=[A-Z])/)
    .slice(0, 2)
    .join(' ')
}

const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\{@link (\w+) ?\}/g, '`$1`')
