import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const page = readFileSync('docs/guide/deploy.md', 'utf8')

/** The code under a heading of docs/guide/deploy.md, as it stands there. */
export function recipe(heading: string, language: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [, code] = new RegExp(`\`\`\`${language}[^\n]*\n([\\s\\S]+?)\`\`\``).exec(section) ?? []
  if (code === undefined) throw new Error(`docs/guide/deploy.md has no ${language} under "${heading}".`)
  return code
}

/** A recipe as a module that runs, with what the page leaves to the reader before and behind it. Returns its name. */
export function writeRecipe(folder: string, name: string, parts: readonly string[]): string {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  writeFileSync(join(folder, `${name}.js`), ts.transpile(parts.join('\n'), options))
  return `${name}.js`
}
