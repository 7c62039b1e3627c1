import { dirname, join } from 'node:path'
import type { CheckedEval } from '@allium/evals'
import { isAlliumError, messageOf } from 'allium'
import { UsageError } from '../exit-codes.ts'
import { importModule } from '../import-module.ts'
import type { EvalArguments } from './eval-arguments.ts'
import type { EvalFile } from './find-evals.ts'

export type Evals = typeof import('@allium/evals')
type Definition = CheckedEval<unknown, string>

/** An evaluation that can run. */
export interface LoadedEval extends EvalFile {
  /** With the trials and the cases of the command line. */
  readonly definition: Definition
  /** Whether `--cases` left some out. */
  readonly isPartial: boolean
  /** The path of its baseline, which may not exist. */
  readonly baseline: string
}

/** Imports an eval file. @throws UsageError */
export async function loadEval(file: EvalFile, evals: Evals, args: EvalArguments): Promise<LoadedEval> {
  const { path, name } = file
  const exported = await importFile(path)
  const definition = checked(path, exported, evals)
  const cases = args.cases === undefined ? definition.cases : selected(definition.cases, args.cases, name)
  return {
    ...file,
    definition: { ...definition, cases, ...(args.trials !== undefined && { trials: args.trials }) },
    isPartial: cases.length < definition.cases.length,
    baseline: join(dirname(path), `${name}.baseline.json`),
  }
}

async function importFile(path: string): Promise<unknown> {
  let module: Record<string, unknown>
  try {
    module = await importModule(path)
  } catch (cause) {
    throw Object.assign(new UsageError(`${path} cannot be imported: ${messageOf(cause)}`), { cause })
  }
  if (module.default !== undefined) return module.default
  const names = Object.keys(module)
  throw new UsageError(
    `${path} has no default export${names.length === 0 ? '' : `, only ${names.join(', ')}`}. Write: export default defineEval({ agent, cases, scorers }).`,
  )
}

function checked(path: string, exported: unknown, { defineEval }: Evals): Definition {
  if (typeof exported !== 'object' || exported === null)
    throw new UsageError(`The default export of ${path} is no evaluation. Write: export default defineEval({ … }).`)
  try {
    return defineEval(exported as never)
  } catch (error) {
    throw isAlliumError(error) ? new UsageError(`${path}: ${error.message}`) : error
  }
}

function selected(cases: Definition['cases'], text: string, name: string): Definition['cases'] {
  const found = cases.filter((one) => one.id.includes(text) || one.tags?.includes(text))
  if (found.length > 0) return found
  const tags = [...new Set(cases.flatMap((one) => one.tags ?? []))]
  const ids = cases.slice(0, 5).map(({ id }) => id)
  throw new UsageError(
    `No case of "${name}" has "${text}" in its id or as a tag. Its ids: ${ids.join(', ')}${cases.length > ids.length ? ', …' : ''}.${tags.length === 0 ? '' : ` Its tags: ${tags.slice(0, 20).join(', ')}.`}`,
  )
}
