import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'
import { docOf, programOf } from './type-tables.ts'

interface Entry {
  readonly title: string
  readonly text: string
  readonly path: string
}

const application: Entry = {
  title: '# Functions and classes',
  text: 'What `allium` exports, made from the sources. The layers are on the pages of their packs. What authors of layers and stores import is on [a page of its own](functions-for-authors.md).',
  path: 'allium/src/index.ts',
}

const entries: readonly Entry[] = [
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
]

/** The page of what applications import: functions, classes and values with the first sentence of their docstrings, on one screen. */
export function functionReference(): string {
  const program = programOf([fileOf(application)])
  return sectionOf(program, application, 1).join('\n')
}

/** The page of what layers, adapters and stores import, with two sentences each. */
export function authorReference(): string {
  const program = programOf(entries.map(fileOf))
  const checker = program.getTypeChecker()
  const option = entries.flatMap((entry) => exportsOf(program, fileOf(entry))).find(isOptionChecks)
  return [
    '# Functions for authors',
    '',
    'What layers, adapters and stores import, made from the sources. Applications need [other functions](functions.md).',
    '',
    ...entries.flatMap((entry) => sectionOf(program, entry, 2)),
    '## Checks of options',
    '',
    '`option.*` are the checks that `layerOptions` takes, one for each option of a factory: [write a pack](../guide/write-a-pack.md).',
    '',
    ...titles,
    ...(option === undefined ? [] : valuesOf(checker, option)).map((symbol) => row(checker, symbol, 2)),
    '',
  ].join('\n')
}

function sectionOf(program: ts.Program, entry: Entry, sentences: number): string[] {
  const symbols = exportsOf(program, fileOf(entry)).filter((symbol) => !isModule(symbol))
  const rows = symbols.map((symbol) => row(program.getTypeChecker(), symbol, sentences))
  return [entry.title, '', entry.text, '', ...titles, ...rows, '']
}

function fileOf({ path }: Entry): string {
  return join(root, 'packages', path)
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

function row(checker: ts.TypeChecker, symbol: ts.Symbol, sentences: number): string {
  const doc = firstSentences(docOf(checker, symbol), sentences)
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

/** As far as a table takes it. */
function firstSentences(doc: string, count: number): string {
  return doc
    .split(/(?<=[.:]) (?=[A-Z])/)
    .slice(0, count)
    .join(' ')
}

const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\{@link (\w+) ?\}/g, '`$1`')
