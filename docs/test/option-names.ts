import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'
import { docOf, programOf } from './type-tables.ts'

/** One option of one options type. */
export interface Option {
  readonly name: string
  /** Its options type, such as `guard.BudgetOptions`. */
  readonly type: string
  /** What it accepts, such as `number` or `function or word`. */
  readonly kind: string
  /** The units that its docstring names, such as `milliseconds`. Empty for what is not a number. */
  readonly unit: string
}

/** Packages without a promise of their own, whose options only other packages pass. */
const internal = ['@allium/shared', '@allium/store-sql']
/** A value of the application, whose type it chooses. */
const any = 'any'
const units = /\b(milliseconds|seconds|minutes|hours|days|bytes|characters|tokens)\b/gi

/** Every option of the exported types that end with `Options`, as the compiler reads them. */
export function exportedOptions(): Option[] {
  const entries = entriesOf()
  const program = programOf(entries)
  const checker = program.getTypeChecker()
  const types = new Set(
    entries.flatMap((entry) => {
      const source = program.getSourceFile(entry)
      const symbol = source && checker.getSymbolAtLocation(source)
      const exported = symbol === undefined ? [] : checker.getExportsOfModule(symbol)
      return exported.map((one) => ((one.flags & ts.SymbolFlags.Alias) === 0 ? one : checker.getAliasedSymbol(one)))
    }),
  )
  return [...types].filter(isOptions).flatMap((type) => optionsOf(checker, type))
}

/** The names with several kinds or units, each with its uses, except for those in `accepted`. */
export function differences(options: readonly Option[], accepted: readonly string[] = []): string[] {
  const names = distinct(options.map(({ name }) => name)).filter((name) => !accepted.includes(name))
  const byName = names.map((name) => [name, options.filter((one) => one.name === name)] as const)
  const differing = byName.filter(([, uses]) => hasKinds(uses) || hasUnits(uses))
  return differing.map(([name, uses]) => `${name}: ${distinct(uses.map(toText)).sort().join(', ')}`)
}

function hasKinds(uses: readonly Option[]): boolean {
  const kinds = distinct(uses.map(({ kind }) => kind))
  const values = distinct(
    kinds.filter((kind) => ![any, 'function', ''].includes(kind)).map((kind) => kind.replace('function or ', '')),
  )
  const isAlone =
    kinds.includes('function') && values.length > 0 && !kinds.some((kind) => kind.includes('function or '))
  return values.length > 1 || isAlone
}

function hasUnits(uses: readonly Option[]): boolean {
  return distinct(uses.filter(({ kind }) => kind.includes('number')).map(({ unit }) => unit)).length > 1
}

function toText({ type, kind, unit }: Option): string {
  return `${kind}${unit === '' ? '' : ` of ${unit}`} (${type})`
}

/** The sources of all entries that packages export to their users. */
function entriesOf(): string[] {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as Manifest
    if (internal.includes(manifest.name)) return []
    return Object.entries(manifest.exports ?? {}).flatMap(([path, to]) => {
      const source = typeof to === 'object' ? to?.['@allium/source'] : undefined
      return path === './internal' || source === undefined || !/\.tsx?$/.test(source)
        ? []
        : [join(root, 'packages', folder, source)]
    })
  })
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly '@allium/source'?: string } | null>>
}

function isOptions(symbol: ts.Symbol): boolean {
  const isType = (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0
  return isType && symbol.name.endsWith('Options') && packageOf(symbol) !== undefined
}

function optionsOf(checker: ts.TypeChecker, symbol: ts.Symbol): Option[] {
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const members = (type.isUnion() ? type.types : [type]).flatMap((one) => checker.getPropertiesOfType(one))
  const own = [...new Map(members.map((one) => [one.name, one])).values()].filter((one) => packageOf(one) !== undefined)
  return own.map((option) => {
    const kind = kindOf(checker, checker.getTypeOfSymbol(option))
    const unit = distinct(docOf(checker, option).toLowerCase().match(units) ?? []).join(' or ')
    return {
      name: option.name,
      type: `${packageOf(symbol)}.${symbol.name}`,
      kind,
      unit: kind.includes('number') ? unit : '',
    }
  })
}

/** The package that declares a symbol; undefined for libraries. */
function packageOf(symbol: ts.Symbol): string | undefined {
  const path = relative(root, symbol.declarations?.[0]?.getSourceFile().fileName ?? '')
  return /^packages\/([^/]+)\/src\//.exec(path)?.[1]
}

/** Lists of words are one kind, and so are functions, whatever they take: layers differ in both. Without `false`, which means no limit. */
function kindOf(checker: ts.TypeChecker, type: ts.Type, outer: readonly ts.Type[] = []): string {
  if (outer.includes(type)) return 'list' // a list of such lists
  const kinds = (type.isUnion() ? type.types : [type]).flatMap((one) => memberKind(checker, one, [...outer, type]))
  return distinct(kinds).sort().join(' or ')
}

function memberKind(checker: ts.TypeChecker, type: ts.Type, outer: readonly ts.Type[]): string[] {
  const { flags } = type
  if ((flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) !== 0) return []
  if ((flags & ts.TypeFlags.BooleanLiteral) !== 0) return checker.typeToString(type) === 'false' ? [] : ['boolean']
  if ((flags & ts.TypeFlags.StringLiteral) !== 0) return ['word']
  if ((flags & ts.TypeFlags.NumberLike) !== 0) return ['number']
  if ((flags & ts.TypeFlags.TypeParameter) !== 0) {
    const constraint = checker.getBaseConstraintOfType(type)
    return [constraint === undefined ? any : kindOf(checker, constraint, outer)]
  }
  if (type.getCallSignatures().length > 0) return ['function']
  if (checker.isArrayType(type) || checker.isTupleType(type))
    return [`list of ${kindOf(checker, checker.getTypeArguments(type as ts.TypeReference)[0] as ts.Type, outer)}`]
  if ((flags & ts.TypeFlags.Unknown) !== 0) return [any]
  const name = (type.aliasSymbol ?? type.symbol)?.name ?? checker.typeToString(type)
  const [part] = type.aliasTypeArguments ?? []
  if (part !== undefined && ['Pick', 'Omit', 'Partial'].includes(name)) return memberKind(checker, part, outer)
  return [['__type', 'Record', 'Readonly'].includes(name) ? 'record' : name]
}

function distinct<T>(list: readonly T[]): T[] {
  return [...new Set(list)]
}
