import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Choices } from './choices.ts'
import { providers } from './providers.ts'

/** npm leaves these files out of packages, or tools in this repository would use them. They get their names in the project. */
const renamed: Readonly<Record<string, string>> = {
  '_package.json': 'package.json',
  _gitignore: '.gitignore',
  '_env.example': '.env.example',
  '_biome.json': 'biome.json',
  _dockerignore: '.dockerignore',
}

/** Copies a template, and puts the project's name and provider into its files. */
export async function scaffold({ directory, name, template, provider }: Choices, templatesDir: string): Promise<void> {
  await cp(join(templatesDir, template), directory, { recursive: true })
  const chosen = providers[provider]
  const replacements: [string, string][] = [
    [`"${providers.openai.package}": "${providers.openai.version}"`, `"${chosen.package}": "${chosen.version}"`],
    [providers.openai.key, chosen.key],
    [providers.openai.model, chosen.model],
    [template === 'pack' ? 'allium-pack-template' : `allium-${template}`, name],
  ]
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || relative(directory, entry.parentPath).split(sep).includes('.git')) continue
    const path = join(entry.parentPath, entry.name)
    const text = await readFile(path, 'utf8')
    const filled = replacements.reduce((filling, [from, to]) => filling.replaceAll(from, to), text)
    if (filled !== text) await writeFile(path, filled)
    const newName = renamed[basename(path)]
    if (newName !== undefined) await rename(path, join(dirname(path), newName))
  }
}
