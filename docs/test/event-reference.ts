import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'

/** What declares events: the umbrella, and what it does not import by itself. */
const sources = ['packages/allium/src/index.ts', 'packages/observe/src/otel.ts', 'packages/core/src/index.ts']

/** The page of all events and their payloads, as the types say it. */
export function eventReference(): string {
  const program = programOf(sources.map((path) => join(root, path)))
  const checker = program.getTypeChecker()
  const events = eventsOf(program, checker)
  const chunks = membersOf(checker, typeNamed(program, checker, 'packages/core/src/model/chunk.ts', 'ContentChunk'))
  const told = (some: readonly EventType[]) => some.map(({ name, doc, type }) => section(checker, name, doc, type))
  const finish = typeNamed(program, checker, 'packages/core/src/model/chunk.ts', 'FinishChunk')
  return [
    head,
    '## Of the core\n',
    ...told(events.filter(({ ofCore }) => ofCore)),
    '## Of the packs and combinators\n',
    ...told(events.filter(({ ofCore }) => !ofCore)),
    "## Chunks\n\nA run's reader gets them flat, and observers as `chunk` of `model:chunk`.\n",
    ...[...chunks, finish].map((type) => section(checker, nameOfChunk(checker, type), '', type)),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

const head = `# Events and their payloads

Each event with its fields, made from the types; [Events](../concepts/events.md) says when each one comes, and who hears it. \`?\` marks what may be absent. \`path\`
names the sub-agents that lead to where it happened.
`

function programOf(rootNames: string[]): ts.Program {
  const base = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile).config as object
  const { options } = ts.parseJsonConfigFileContent({ ...base, files: [] }, ts.sys, root)
  return ts.createProgram({ rootNames, options })
}

function typeNamed(program: ts.Program, checker: ts.TypeChecker, file: string, name: string): ts.Type {
  const source = program.getSourceFile(join(root, file))
  const symbol = source && checker.getSymbolAtLocation(source)
  const found = symbol && checker.getExportsOfModule(symbol).find((one) => one.name === name)
  if (found === undefined) throw new Error(`${file} exports no type ${name}.`)
  const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0
  return checker.getDeclaredTypeOfSymbol(isAlias ? checker.getAliasedSymbol(found) : found)
}

interface EventType {
  name: string
  doc: string
  type: ts.Type
  ofCore: boolean
}

function eventsOf(program: ts.Program, checker: ts.TypeChecker): EventType[] {
  const all = typeNamed(program, checker, 'packages/core/src/index.ts', 'AgentEvents')
  return checker.getPropertiesOfType(all).map((property) => {
    const type = checker.getTypeOfSymbol(property)
    const own = type.getSymbol() ?? type.aliasSymbol
    const file = property.declarations?.[0]?.getSourceFile().fileName ?? ''
    return {
      ofCore: file.includes('/packages/core/'),
      name: property.name,
      doc: docOf(checker, property) || (own === undefined ? '' : docOf(checker, own)),
      type,
    }
  })
}

function section(checker: ts.TypeChecker, name: string, doc: string, type: ts.Type): string {
  const rows = membersOf(checker, type).flatMap((one) => checker.getPropertiesOfType(one))
  const seen = new Map(rows.filter((field) => field.name !== 'type').map((field) => [field.name, field]))
  const table = [...seen.values()].map((field) => row(checker, field))
  const body = table.length === 0 ? [] : ['| field | type | |', '|---|---|---|', ...table, '']
  return [`### ${name}`, '', ...(doc === '' ? [] : [doc, '']), ...body].join('\n')
}

function membersOf(_: ts.TypeChecker, type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type]
}

function nameOfChunk(checker: ts.TypeChecker, type: ts.Type): string {
  const property = type.getProperty('type')
  const literal = property && checker.getTypeOfSymbol(property)
  return literal?.isStringLiteral() ? literal.value : checker.typeToString(type)
}

function row(checker: ts.TypeChecker, field: ts.Symbol): string {
  const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0
  const type = checker.getTypeOfSymbol(field)
  const shown = isOptional && (type.flags & ts.TypeFlags.Unknown) === 0 ? checker.getNonNullableType(type) : type
  const text = checker.typeToString(
    shown,
    undefined,
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope,
  )
  return `| \`${field.name}${isOptional ? '?' : ''}\` | \`${cell(text)}\` | ${cell(docOf(checker, field))} |`
}

function docOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ').trim()
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ')
}
