import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** The first fence of a language below a heading of a page of docs/guide/deploy, as it stands there. */
export function recipe(page: string, heading: string, language: string): string {
  const text = readFileSync(`docs/guide/deploy/${page}.md`, 'utf8')
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [, code] = new RegExp(`\`\`\`${language}[^\n]*\n([\\s\\S]+?)\`\`\``).exec(section) ?? []
  if (code === undefined) throw new Error(`docs/guide/deploy/${page}.md has no ${language} under "${heading}".`)
  return code
}

/** A recipe as a module that runs, with what the page leaves to the reader before and behind it. Returns its name. */
export function writeRecipe(folder: string, name: string, parts: readonly string[]): string {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  writeFileSync(join(folder, `${name}.js`), ts.transpile(parts.join('\n'), options))
  return `${name}.js`
}
