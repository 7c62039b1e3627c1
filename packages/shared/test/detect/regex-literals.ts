import { readdirSync, readFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import ts from 'typescript'

/** Every regular expression that is written in the sources of a folder. */
export function regexLiterals(folder: URL): string[] {
  const found = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const source = ts.createSourceFile(file, readFileSync(new URL(file, folder), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) found.add((node as ts.RegularExpressionLiteral).text)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return [...found]
}

/** What is known of the time that a literal takes: `vulnerable` if a text can make it slow. */
export function safetyOf(literal: string): string {
  const end = literal.lastIndexOf('/')
  const search = () =>
    checkSync(literal.slice(1, end), literal.slice(end + 1).replace('v', 'u'), { timeout: 5_000 }).status
  // On a busy machine a search is cut short and may suspect a safe literal. An unsafe one is found each time.
  const found = search()
  return found === 'vulnerable' ? search() : found
}
