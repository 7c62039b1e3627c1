import { extname } from 'node:path'
import { createJiti, type Jiti } from 'jiti'

/** Runs TypeScript of a project: files, and texts inside a config. Files that import the same module share one copy, as in a program. */
export interface Code {
  /** Returns the default export of a file. */
  importFile(file: string): Promise<unknown>
  /** Evaluates an expression; its imports are relative to `file`. */
  evaluate(expression: string, file: string): Promise<unknown>
  /** Clears the module cache, so that project files are read again. */
  forget(): void
}

export function isCodeFile(path: string): boolean {
  return ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'].includes(extname(path))
}

/** @param modules modules that project files import by these names, so that they share one copy with the program */
export function createCode(modules: Readonly<Record<string, unknown>>): Code {
  const loaded = new Set<string>()
  const from = (file: string) =>
    createJiti(file, { fsCache: false, interopDefault: false, virtualModules: { ...modules } })

  /** Tracks which project files `load` adds to the module cache, which is Node's own. */
  async function trackModules<T>(jiti: Jiti, load: () => T | Promise<T>): Promise<T> {
    const cachedBefore = new Set(Object.keys(jiti.cache))
    try {
      return await load()
    } finally {
      for (const file of Object.keys(jiti.cache))
        if (!cachedBefore.has(file) && !file.includes('/node_modules/')) loaded.add(file)
    }
  }

  return {
    importFile(file) {
      const jiti = from(file)
      return trackModules(jiti, () => jiti.import(file, { default: true }))
    },
    evaluate(expression, file) {
      const jiti = from(file)
      const source = `export default (${expression}\n)`
      // Not `async`, because an expression has no await.
      const options = { filename: file, async: false, ext: '.ts', forceTranspile: true }
      return trackModules(jiti, () => (jiti.evalModule(source, options) as { default?: unknown }).default)
    },
    forget() {
      const { cache } = from(import.meta.url)
      for (const file of loaded) delete cache[file]
      loaded.clear()
    },
  }
}
