import type { ToolContext } from '@allium/core'
import { checkPath, type PathRules } from '@allium/shared/file-paths'

interface PathArgumentRules extends PathRules {
  readonly layer: string
  /** Whether the tool receives the checked paths. */
  readonly resolve: boolean
}

/** Returns the first problem with arguments that are paths, such as `edits.path`. Replaces those without one with the checked paths. */
export async function findPathProblem(
  ctx: ToolContext,
  paths: readonly string[],
  rules: PathArgumentRules,
): Promise<string | undefined> {
  for (const path of paths) {
    const problem = await checkArgument(ctx, path, rules)
    if (problem !== undefined) return `The argument "${path}" of "${ctx.tool.name}" ${problem}.`
  }
  return undefined
}

async function checkArgument(ctx: ToolContext, path: string, rules: PathArgumentRules): Promise<string | undefined> {
  const problems: string[] = []
  const checkOne = async (value: unknown) => {
    const result = await checkPath(value, rules)
    if ('path' in result) return result.path
    problems.push(result.problem)
    return value
  }
  try {
    const checked = await mapAt(ctx.args, path.split('.'), checkOne)
    if (problems.length === 0 && rules.resolve) ctx.modifyArgs(() => checked as Record<string, unknown>)
  } catch (error) {
    ctx.logger.error(`"${rules.layer}" could not check a path, so the call is denied.`, { error })
    return 'could not be checked'
  }
  return problems[0]
}

/** Maps the value at a path in a JSON-like value; in a list, maps that path in each item. */
async function mapAt(
  value: unknown,
  keys: readonly string[],
  map: (value: unknown) => Promise<unknown>,
): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => mapAt(one, keys, map)))
  const [key, ...rest] = keys
  if (key === undefined) return map(value)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return value
  return { ...value, [key]: await mapAt((value as Record<string, unknown>)[key], rest, map) }
}
