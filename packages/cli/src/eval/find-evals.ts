import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { UsageError } from '../exit-codes.ts'

/** A file that exports an evaluation. */
export interface EvalFile {
  /** Its name without the extension, such as `support` of `support.eval.ts`. */
  readonly name: string
  /** An absolute path. */
  readonly path: string
}

const pattern = /^(.+)\.eval\.[cm]?[jt]sx?$/
/** Where evaluations are by default. */
const folder = 'evals'

/** Returns the eval files with the given names or paths; without any, those of the folder `evals`. @throws UsageError */
export function findEvals(given: readonly string[], cwd: string): EvalFile[] {
  const own = evalsIn(resolve(cwd, folder))
  if (given.length === 0 && own.length === 0)
    throw new UsageError(
      `There is no evaluation in ${resolve(cwd, folder)}. Create ${folder}/NAME.eval.ts with: export default defineEval({ … }).`,
    )
  const found = given.length === 0 ? own : given.flatMap((text) => filesOf(text, own, cwd))
  const files = [...new Map(found.map((file) => [file.path, file])).values()]
  const names = new Map<string, EvalFile>()
  for (const file of files) {
    const other = names.get(file.name)
    if (other !== undefined)
      throw new UsageError(
        `${other.path} and ${file.path} have the same name, so they would share .allium/evals/${file.name}.json. Rename one of them, or run them one after the other.`,
      )
    names.set(file.name, file)
  }
  return files
}

/** @param text a name, a file or a folder */
function filesOf(text: string, own: readonly EvalFile[], cwd: string): EvalFile[] {
  const named = own.find((one) => one.name === text)
  if (named !== undefined) return [named]
  const path = resolve(cwd, text)
  if (!existsSync(path)) {
    const known = own.length === 0 ? '' : ` Evaluations in ${folder}: ${own.map((one) => one.name).join(', ')}.`
    throw new UsageError(`There is no evaluation "${text}", and no file ${path}.${known}`)
  }
  if (statSync(path).isDirectory()) {
    const inside = evalsIn(path)
    if (inside.length === 0) throw new UsageError(`The folder ${path} has no file NAME.eval.ts.`)
    return inside
  }
  const name = nameOf(path)
  if (name === undefined)
    throw new UsageError(
      `${path} is not an eval file. Name it NAME.eval.ts, because its results are stored as NAME.json.`,
    )
  return [{ name, path }]
}

function evalsIn(path: string): EvalFile[] {
  if (!existsSync(path)) return []
  return readdirSync(path)
    .sort()
    .flatMap((file) => {
      const name = nameOf(file)
      return name === undefined ? [] : [{ name, path: join(path, file) }]
    })
}

function nameOf(path: string): string | undefined {
  return pattern.exec(basename(path))?.[1]
}
