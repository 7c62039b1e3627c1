import { parseArgs } from 'node:util'
import type { AnswersMode } from '@allium/evals/answers'
import { messageOf } from 'allium'
import { UsageError } from '../exit-codes.ts'

/** The parsed command line of `allium eval`. */
export interface EvalArguments {
  /** Eval files, or names of those in `evals/`. Empty for all of them. */
  readonly files: readonly string[]
  readonly plan: boolean
  readonly help: boolean
  readonly updateBaseline: boolean
  /** Where answers of models come from. Undefined: in CI the recorded ones if there are any, else the models. */
  readonly answers: AnswersMode | 'live' | undefined
  readonly allowUndecided: boolean
  readonly trials: number | undefined
  /** Selects cases by a part of their id, or by a tag. */
  readonly cases: string | undefined
  readonly json: boolean
  /** Paths of reports, by format. */
  readonly reports: Readonly<Record<ReportFormat, string | undefined>>
}

export type ReportFormat = 'junit' | 'markdown' | 'html'

export const evalHelp = `Usage:
  allium eval [files]             runs the evaluations of evals/*.eval.ts, or those named: allium eval support evals/other.eval.ts
  allium eval --plan [files]      shows which gates can pass with the number of cases, and runs nothing

  --trials <number>    runs of each case, instead of the evaluation's own number
  --cases <text>       only the cases with this text in their id, or with this tag
  --update-baseline    stores the results in NAME.baseline.json next to the eval file, for later comparisons; commit that file
  --record             stores the answers of the models in NAME.answers.jsonl next to the eval file; commit that file
  --record-missing     the same, but only asks for answers that are not in the file
  --replay             takes the answers from that file, and calls no model. In CI this is the default if the file exists
  --live               calls the models, in CI too
  --allow-undecided    exit code 0 if no gate fails and there are too few cases for some of them
  --junit <file>       a report for CI, as JUnit XML
  --markdown <file>    a report for a pull request, as Markdown
  --html <file>        a report as one page of HTML
  --json               the reports as JSON on stdout, one per line and evaluation

The newest results of each evaluation are in .allium/evals/NAME.json.

Exit codes: 0 all gates pass, or there are none; 1 a gate fails, or a run failed; 2 mistake in the command or in an eval file;
5 too few cases to decide a gate; 6 a gate is invalid, such as one without a baseline; 130 Ctrl-C
`

const flag = { type: 'boolean' } as const
const text = { type: 'string' } as const
const options = {
  plan: flag,
  help: { ...flag, short: 'h' },
  'update-baseline': flag,
  record: flag,
  'record-missing': flag,
  replay: flag,
  live: flag,
  'allow-undecided': flag,
  trials: text,
  cases: text,
  json: flag,
  junit: text,
  markdown: text,
  html: text,
} as const

/** @throws UsageError */
export function evalArguments(argv: readonly string[]): EvalArguments {
  const { values, positionals } = parsed(argv)
  const { plan = false, help = false, json = false, trials, cases, junit, markdown, html } = values
  const { 'update-baseline': updateBaseline = false, 'allow-undecided': allowUndecided = false } = values
  if (updateBaseline && cases !== undefined)
    throw new UsageError('--update-baseline needs all cases. Remove --cases, or the baseline would lose the others.')
  if (plan && (updateBaseline || junit !== undefined || markdown !== undefined || html !== undefined))
    throw new UsageError(
      '--plan runs nothing, so it has no results to store. Use it with --trials, --cases and --json.',
    )
  for (const [name, value] of Object.entries({ cases, junit, markdown, html }))
    if (value?.trim() === '') throw new UsageError(`--${name} is empty.`)
  return {
    answers: answersOf(values),
    ...{ files: positionals, plan, help, json, updateBaseline, allowUndecided, cases },
    trials: trials === undefined ? undefined : numberOf(trials),
    reports: { junit, markdown, html },
  }
}

function answersOf(values: Readonly<Record<string, unknown>>): EvalArguments['answers'] {
  const modes = { record: 'record', 'record-missing': 'missing', replay: 'replay', live: 'live' } as const
  const given = (Object.keys(modes) as (keyof typeof modes)[]).filter((name) => values[name] === true)
  if (given.length > 1) throw new UsageError(`--${given[0]} and --${given[1]} exclude each other. Use one of them.`)
  return given[0] && modes[given[0]]
}

function numberOf(trials: string): number {
  const number = Number(trials)
  if (/^\d+$/.test(trials) && number >= 1 && number <= 1000) return number
  throw new UsageError(`--trials is ${JSON.stringify(trials)}. Give a whole number from 1 to 1000.`)
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
