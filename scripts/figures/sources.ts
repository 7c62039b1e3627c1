import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

/** A source file: its path below the folder that is measured, and its syntax. */
export interface Source {
  readonly path: string
  readonly tree: ts.SourceFile
}

export function sourcesOf(folder: string): Source[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
  return paths.sort().map((path) => parsed(path, readFileSync(join(folder, path), 'utf8')))
}

export function parsed(path: string, text: string): Source {
  return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
}

/** Lines that have code: neither blank nor only comments. */
export function codeLines({ tree }: Source): number {
  const lines = new Set<number>()
  const visit = (node: ts.Node) => {
    if (node.getChildCount(tree) > 0) return node.getChildren(tree).forEach(visit)
    if (node.kind === ts.SyntaxKind.EndOfFileToken || ts.isJSDoc(node)) return
    const [first, last] = [lineOf(tree, node.getStart(tree)), lineOf(tree, node.end)]
    for (let line = first; line <= last; line++) lines.add(line)
  }
  visit(tree)
  return lines.size
}

/** All lines of a file, as an editor counts them. */
export function allLines({ tree }: Source): number {
  return lineOf(tree, tree.end - (tree.text.endsWith('\n') ? 1 : 0)) + 1
}

/** The length of each function that has a body, in lines, with its place. */
export function functionsOf({ path, tree }: Source): { readonly lines: number; readonly place: string }[] {
  const found: { lines: number; place: string }[] = []
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(tree, node.getStart(tree))
      found.push({ lines: lineOf(tree, node.end) - first + 1, place: `${path}:${first + 1}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** The files that a file imports, types included. */
function importsOf({ path, tree }: Source): string[] {
  return tree.statements
    .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .map(({ moduleSpecifier }) => (moduleSpecifier as ts.StringLiteral | undefined)?.text ?? '')
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(path), name)))
}

/** The groups of files that import each other in a circle. */
export function circlesOf(sources: readonly Source[]): string[][] {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]))
  const reached = new Map([...imports.keys()].map((path) => [path, reach(path, imports)]))
  const inCircle = [...reached].filter(([path, paths]) => paths.has(path)).map(([path]) => path)
  const groups = new Map<string, string[]>()
  for (const path of inCircle) {
    const first = inCircle.find((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)) ?? path
    groups.set(first, [...(groups.get(first) ?? []), path])
  }
  return [...groups.values()]
}

function reach(from: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>()
  const open = [...(imports.get(from) ?? [])]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    open.push(...(imports.get(path) ?? []))
  }
  return seen
}

/** Casts to a class of a ring, such as `ctx as TurnAttempt`. */
export function castsOf({ path, tree }: Source): string[] {
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (
      ts.isAsExpression(node) &&
      /\b(Agent|Session|Turn|Model|Tool)?(Attempt|Call|Turn|SessionScope)\b/.test(node.type.getText(tree))
    )
      found.push(`${path}:${lineOf(tree, node.getStart(tree)) + 1}`)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function lineOf(tree: ts.SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line
}
