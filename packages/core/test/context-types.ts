import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { ScopeName } from '../src/index.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const interfaces: Record<ScopeName, string> = {
  agent: 'AgentContext',
  session: 'SessionContext',
  turn: 'TurnContext',
  model: 'ModelContext',
  tool: 'ToolContext',
}

/** A member of a context, or a function that takes the context as its first parameter. */
export interface Member {
  readonly name: string
  readonly isFunction: boolean
  /** Whether it is a field that layers may set. */
  readonly isWritable: boolean
  /** Whether a call without arguments compiles; for a function, without any besides the context. */
  readonly needsArguments: boolean
}

/** Reads the members of each scope's context, and the functions of `context.ts` that accept it, from the types. */
export function contextTypes(): Record<ScopeName, { readonly members: Member[]; readonly functions: Member[] }> {
  const [index, context] = ['index', 'context'].map((name) => `${root}packages/core/src/${name}.ts`) as [string, string]
  const { config } = ts.readConfigFile(`${root}scripts/tsconfig.base.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root)
  const program = ts.createProgram([index, context], { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const exported = (path: string) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.SourceFile) as ts.Symbol
    return checker
      .getExportsOfModule(module)
      .map((symbol) => ((symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)))
  }
  const memberOf = (symbol: ts.Symbol, given = 0): Member => {
    const [call] = checker.getTypeOfSymbol(symbol).getCallSignatures()
    const [first] = call?.getParameters().slice(given) ?? []
    return {
      name: symbol.name,
      isFunction: call !== undefined,
      isWritable: call === undefined && (symbol.declarations ?? []).some(isWritable),
      needsArguments: first !== undefined && !isOptional(first),
    }
  }
  const functions = exported(context).filter(({ flags }) => (flags & ts.SymbolFlags.Function) !== 0)
  const ofScope = (scope: ScopeName) => {
    const symbol = exported(index).find(({ name }) => name === interfaces[scope]) as ts.Symbol
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    const takes = (fn: ts.Symbol) => {
      const [ctx] = checker.getTypeOfSymbol(fn).getCallSignatures()[0]?.getParameters() ?? []
      return ctx !== undefined && checker.isTypeAssignableTo(type, checker.getTypeOfSymbol(ctx))
    }
    return {
      members: type.getProperties().map((member) => memberOf(member)),
      functions: functions.filter(takes).map((fn) => memberOf(fn, 1)),
    }
  }
  const scopes = Object.keys(interfaces) as ScopeName[]
  return Object.fromEntries(scopes.map((scope) => [scope, ofScope(scope)])) as ReturnType<typeof contextTypes>
}

function isWritable(declaration: ts.Declaration): boolean {
  if (ts.isSetAccessor(declaration)) return true
  return (
    ts.isPropertySignature(declaration) && (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) === 0
  )
}

function isOptional({ valueDeclaration }: ts.Symbol): boolean {
  if (valueDeclaration === undefined || !ts.isParameter(valueDeclaration)) return false
  const { questionToken, initializer, dotDotDotToken } = valueDeclaration
  return questionToken !== undefined || initializer !== undefined || dotDotDotToken !== undefined
}
