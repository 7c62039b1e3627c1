import { pathToFileURL } from 'node:url'

/**
 * Imports a module of the project. TypeScript that this Node cannot import itself is loaded as configs are: enums, paths without an
 * extension, and all of it before Node 22.18.
 */
export async function importModule(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    if (!/\.[cm]?tsx?$/.test(path) || !needsTranspiler(error)) throw error
    const { createJiti } = await import('jiti')
    return createJiti(path, { fsCache: false, interopDefault: false }).import(path)
  }
}

/** Node reports these before it runs any module of the import. */
function needsTranspiler(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return (
    code === 'ERR_UNKNOWN_FILE_EXTENSION' ||
    code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ||
    code === 'ERR_MODULE_NOT_FOUND'
  )
}
