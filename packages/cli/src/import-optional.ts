import { UsageError } from './exit-codes.ts'

/** Imports a package that users install only if they need it. @throws UsageError */
export async function importOptional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UsageError(`${name} is not installed here. Run npm install ${name}.`)
  }
}
