import { dirname, relative } from 'node:path'
import ts from 'typescript'

/** What a function calls without knowing who answers: members of interfaces, and functions that it was given. */
export interface InterfaceCalls {
  readonly members: ReadonlySet<string>
  /** Whether it calls a function value whose type is declared above. */
  readonly functionsAbove: boolean
}

/**
 * Finds the calls of each function that go through an interface which is declared on the function's floor or below.
 *
 * @param folder the folder of the sources @param floors their folders, from the ground up
 * @returns the calls of the function at a position of a file
 */
export function interfaceCallsOf(
  folder: string,
  options: ts.CompilerOptions,
  floors: readonly string[],
): (path: string, position: number) => InterfaceCalls {
  const program = ts.createProgram([`${folder}/index.ts`], { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const found = new Map<string, { members: Set<string>; functionsAbove: boolean }>()
  for (const source of program.getSourceFiles())
    if (source.fileName.startsWith(`${folder}/`)) visit(source, undefined, relative(folder, source.fileName))
  const none: InterfaceCalls = { members: new Set(), functionsAbove: false }
  return (path, position) => found.get(`${path}:${position}`) ?? none

  function visit(node: ts.Node, owner: string | undefined, path: string): void {
    let inner = owner
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      inner = `${path}:${node.pos}`
      found.set(inner, { members: new Set(), functionsAbove: false })
    }
    const calls = owner === undefined ? undefined : found.get(owner)
    if (calls !== undefined && ts.isPropertyAccessExpression(node)) {
      const { declarations = [] } = checker.getSymbolAtLocation(node.name) ?? {}
      if (declarations.some((one) => isInInterface(one) && isBelow(one, path))) calls.members.add(node.name.text)
    }
    if (calls !== undefined && ts.isCallExpression(node)) {
      const declaration = checker.getResolvedSignature(node)?.declaration
      if (declaration !== undefined && isFunctionValue(declaration) && !isBelow(declaration, path))
        calls.functionsAbove = true
    }
    ts.forEachChild(node, (child) => visit(child, inner, path))
  }

  function isBelow(declaration: ts.Node, path: string): boolean {
    const declared = relative(folder, declaration.getSourceFile().fileName)
    return floors.indexOf(dirname(declared)) <= floors.indexOf(dirname(path))
  }
}

function isFunctionValue(declaration: ts.Node): boolean {
  return ts.isFunctionTypeNode(declaration) || ts.isFunctionExpression(declaration) || ts.isArrowFunction(declaration)
}

function isInInterface({ parent }: ts.Node): boolean {
  return ts.isInterfaceDeclaration(parent) || ts.isTypeLiteralNode(parent)
}
