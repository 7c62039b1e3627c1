import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Whether the package runs from its TypeScript source, as in the tests of this repository. */
const isSource = import.meta.url.endsWith('.ts')

/** The script that runs the agent. */
export const childScript = fileURLToPath(new URL(isSource ? './child/main.ts' : './child/main.js', import.meta.url))

/** The folder with the built page. */
export const pageFolder = fileURLToPath(new URL(isSource ? '../dist/page/' : './page/', import.meta.url))

/** Arguments of Node with which the child can import TypeScript. */
export function nodeArguments(): string[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  return [...(isSource ? ['--conditions=@allium/source'] : []), '--import', tsx]
}
