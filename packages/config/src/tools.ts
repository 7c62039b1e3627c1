import { type AnyTool, messageOf } from '@allium/core'
import { type Code, isCodeFile } from './entries/code.ts'
import { resolveFile } from './entries/paths.ts'
import { mistake, type Path, type Source } from './source/source.ts'

/**
 * Loads the tools of `agent.tools`: files whose default export is a tool or a list; in a TypeScript file also tools themselves. @throws
 * AlliumError `config.*`
 */
export async function readTools(
  source: Source,
  entries: readonly unknown[] = [],
  { code, allowOutside }: { code: Code; allowOutside: boolean },
): Promise<AnyTool[]> {
  const tools: AnyTool[] = []
  for (const [i, entry] of entries.entries()) tools.push(...(await readTool(entry, ['agent', 'tools', i])))
  return tools

  async function readTool(entry: unknown, path: Path): Promise<AnyTool[]> {
    const given = typeof entry === 'string' ? await importTools(entry, path) : entry
    const list: unknown[] = Array.isArray(given) ? given : [given]
    if (!list.every(isTool))
      throw mistake(
        source,
        'config.invalid',
        path,
        'is not a tool. Expected { name, description, schema or jsonSchema, execute }, or a file whose default export is one, or a list.',
      )
    return list as AnyTool[]
  }

  async function importTools(text: string, path: Path): Promise<unknown> {
    if (!isCodeFile(text))
      throw mistake(
        source,
        'config.invalid',
        path,
        `is ${JSON.stringify(text)}. Expected the path of a .ts or .js file.`,
      )
    const file = await resolveFile(text, source.root, allowOutside, (errorCode, what) =>
      mistake(source, errorCode, path, what),
    )
    try {
      return await code.importFile(file)
    } catch (cause) {
      throw mistake(
        source,
        'config.invalid',
        path,
        `names the file ${text}, which cannot be loaded: ${messageOf(cause)}`,
        { cause },
      )
    }
  }
}

function isTool(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { name, execute, providerExecuted } = value as Partial<AnyTool>
  return typeof name === 'string' && (typeof execute === 'function' || providerExecuted !== undefined)
}
