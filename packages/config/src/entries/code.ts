import { extname } from 'node:path'
import { createJiti } from 'jiti'

/** Runs TypeScript of a project: files, and texts inside a config. */
export interface Code {
  /** The default export of a file, read afresh. */
  importFile(file: string): Promise<unknown>
  /** The value of an expression; its imports are relative to `file`. */
  evaluate(expression: string, file: string): Promise<unknown>
}

export function isCodeFile(path: string): boolean {
  return ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'].includes(extname(path))
}

/**
 * @param modules what a project's files import by these names, so that they share one copy with the program
 */
export function createCode(modules: Readonly<Record<string, unknown>>): Code {
  const from = (file: string) =>
    createJiti(file, { fsCache: false, moduleCache: false, interopDefault: false, virtualModules: { ...modules } })
  return {
    importFile: (file) => from(file).import(file, { default: true }),
    async evaluate(expression, file) {
      const source = `export default (${expression}\n)`
      // Without await: an expression has none outside its functions, and a module that is done is not a promise.
      const module = from(file).evalModule(source, { filename: file, async: false, ext: '.ts', forceTranspile: true })
      return (module as { default?: unknown }).default
    },
  }
}
