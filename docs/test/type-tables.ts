import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'

/** The program of some sources, as the workspace compiles them. */
export function programOf(rootNames: string[]): ts.Program {
  const base = ts.readConfigFile(join(root, 'scripts/tsconfig.base.json'), ts.sys.readFile).config as object
  const { options } = ts.parseJsonConfigFileContent({ ...base, files: [] }, ts.sys, root)
  return ts.createProgram({ rootNames, options })
}

/** A type that a file exports. */
export function typeNamed(program: ts.Program, checker: ts.TypeChecker, file: string, name: string): ts.Type {
  const source = program.getSourceFile(join(root, file))
  const symbol = source && checker.getSymbolAtLocation(source)
  const found = symbol && checker.getExportsOfModule(symbol).find((one) => one.name === name)
  if (found === undefined) throw new Error(`${file} exports no type ${name}.`)
  const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0
  return checker.getDeclaredTypeOfSymbol(isAlias ? checker.getAliasedSymbol(found) : found)
}

/** A heading with the fields of a type as a table; with `defaults`, what each is by default. */
export function section(
  checker: ts.TypeChecker,
  { name, doc, type, defaults = false }: { name: string; doc: string; type: ts.Type; defaults?: boolean },
): string {
  const rows = membersOf(checker, type).flatMap((one) => checker.getPropertiesOfType(one))
  const seen = new Map(rows.filter((field) => field.name !== 'type').map((field) => [field.name, field]))
  const table = [...seen.values()].map((field) => row(checker, field, defaults))
  const head = defaults
    ? ['| option | type | default | |', '|---|---|---|---|']
    : ['| field | type | |', '|---|---|---|']
  const body = table.length === 0 ? [] : [...head, ...table, '']
  return [`### ${name}`, '', ...(doc === '' ? [] : [doc, '']), ...body].join('\n')
}

/** The members of a union, or the type itself. */
export function membersOf(_: ts.TypeChecker, type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type]
}

/** The `type` of a chunk or part. */
export function nameOfType(checker: ts.TypeChecker, type: ts.Type): string {
  const property = type.getProperty('type')
  const literal = property && checker.getTypeOfSymbol(property)
  return literal?.isStringLiteral() ? literal.value : checker.typeToString(type)
}

function row(checker: ts.TypeChecker, field: ts.Symbol, defaults: boolean): string {
  const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0
  const type = checker.getTypeOfSymbol(field)
  const shown = isOptional && (type.flags & ts.TypeFlags.Unknown) === 0 ? checker.getNonNullableType(type) : type
  const text = checker.typeToString(
    shown,
    undefined,
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope,
  )
  const told = text.length > 200 ? (declaredType(field) ?? text) : text
  const own = defaults ? ` ${cell(defaultOf(checker, field))} |` : ''
  return `| \`${field.name}${isOptional ? '?' : ''}\` | \`${cell(told)}\` |${own} ${cell(docOf(checker, field))} |`
}

/** As it is written, where that is no list of fields. */
function declaredType({ valueDeclaration: declared }: ts.Symbol): string | undefined {
  const written = declared && ts.isPropertySignature(declared) ? declared.type?.getText() : undefined
  return written?.includes('{') ? undefined : written?.replace(/ \| undefined$/, '')
}

/** What the docstring of a symbol says. */
export function docOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ').trim()
}

/** What stands behind `@default`. */
function defaultOf(checker: ts.TypeChecker, field: ts.Symbol): string {
  const tag = field.getJsDocTags(checker).find(({ name }) => name === 'default')
  return ts.displayPartsToString(tag?.text).replace(/\s+/g, ' ').trim()
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ')
}
