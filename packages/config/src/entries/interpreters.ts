import { extname } from 'node:path'

/** The interpreter of a script by its extension, whether or not it is executable. */
const interpreters: Readonly<Record<string, string>> = {
  '.sh': 'sh',
  '.bash': 'bash',
  '.zsh': 'zsh',
  '.py': 'python3',
  '.rb': 'ruby',
  '.pl': 'perl',
  '.php': 'php',
  '.lua': 'lua',
  '.r': 'Rscript',
}

export function interpreterOf(path: string): string | undefined {
  return interpreters[extname(path).toLowerCase()]
}

export const scriptExtensions: readonly string[] = Object.keys(interpreters)
