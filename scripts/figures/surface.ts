import { join } from 'node:path'
import ts from 'typescript'

const contexts = ['AgentContext', 'SessionContext', 'TurnContext', 'ModelContext', 'ToolContext']

/** What an entry of a package exports, and how many members the contexts of the layers have. */
export interface Surface {
  readonly values: number
  readonly types: number
  readonly toolContext: number
  readonly allContexts: number
}

export function compilerOptions(root: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'scripts/tsconfig.base.json'), ts.sys.readFile)
  return ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root).options
}

export function surfaceOf(root: string, entry: string): Surface {
  const path = join(root, entry)
  const program = ts.createProgram([path], { ...compilerOptions(root), noEmit: true })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(path)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`${entry} exports nothing.`)
  const symbols = checker
    .getExportsOfModule(module)
    .map((symbol) => ((symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)))
  const values = symbols.filter(({ flags }) => (flags & (ts.SymbolFlags.Value | ts.SymbolFlags.NamespaceModule)) !== 0)
  const members = (name: string) => {
    const symbol = symbols.find((one) => one.name === name)
    return symbol === undefined
      ? []
      : checker
          .getDeclaredTypeOfSymbol(symbol)
          .getProperties()
          .map((one) => one.name)
  }
  return {
    values: values.length,
    types: symbols.length - values.length,
    toolContext: members('ToolContext').length,
    allContexts: new Set(contexts.flatMap(members)).size,
  }
}
