import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'
import { docOf, programOf } from './type-tables.ts'

const core = join(root, 'packages/core/src/index.ts')
const context = join(root, 'packages/core/src/context.ts')
const store = join(root, 'packages/store/src/index.ts')

/** The page of all that core, its entry for contexts, and store export and that runs: functions, classes and values, with their types and docstrings. */
export function functionReference(): string {
  const program = programOf([core, context, store])
  const checker = program.getTypeChecker()
  const all = exportsOf(program, core)
  const option = all.find(({ name }) => name.endsWith('option-checks"'))
  const rows = (symbols: readonly ts.Symbol[]) => symbols.map((symbol) => row(checker, symbol))
  return [
    ...head,
    ...rows(all.filter((symbol) => symbol !== option)),
    '',
    '## Functions that take a context',
    '',
    'What `allium/context` and `@allium/core/context` export: [scopes and contexts](../concepts/scopes-and-contexts.md#functions-that-take-a-context).',
    '',
    ...titles,
    ...rows(exportsOf(program, context)),
    '',
    '## Stores',
    '',
    'What `allium` and `@allium/store` export.',
    '',
    ...titles,
    ...rows(exportsOf(program, store)),
    '',
    '## Checks of options',
    '',
    '`option.*` are the checks that `layerOptions` takes, one for each option of a factory: [write a pack](../guide/write-a-pack.md).',
    '',
    ...titles,
    ...rows(option === undefined ? [] : valuesOf(checker, option)),
    '',
  ].join('\n')
}

function exportsOf(program: ts.Program, index: string): ts.Symbol[] {
  const source = program.getSourceFile(index)
  const exported = source && program.getTypeChecker().getSymbolAtLocation(source)
  if (exported === undefined) throw new Error(`${index} exports nothing.`)
  return valuesOf(program.getTypeChecker(), exported)
}

const titles = ['| name | type | what it does |', '|---|---|---|']
const head = [
  '# Functions and classes',
  '',
  'What `allium` and `@allium/core` export beside the layers of the packs, made from the sources.',
  '',
  ...titles,
]

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
