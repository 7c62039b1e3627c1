import type { CommandContext } from '../command-context.ts'
import { exitCodes, interrupted } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'
import { visible } from '../printable.ts'
import { type EvalArguments, evalArguments, evalHelp } from './eval-arguments.ts'
import { findEvals } from './find-evals.ts'
import { type Evals, type LoadedEval, loadEval } from './load-eval.ts'
import { type EvalOutcome, runEval } from './run-eval.ts'
import { updateBaseline } from './update-baseline.ts'

/** `allium eval`: runs evaluations, prints their reports, and exits by their gates. @throws UsageError */
export async function evalCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const args = evalArguments(argv)
  if (args.help) {
    context.stdout.write(evalHelp)
    return exitCodes.ok
  }
  const files = findEvals(args.files, context.cwd())
  const evals = await importOptional('@allium/evals', () => import('@allium/evals'))
  // All files are checked before the first trial is paid for.
  const loaded: LoadedEval[] = []
  for (const file of files) loaded.push(await loadEval(file, evals, args))
  if (args.plan) return (await import('./plan-evals.ts')).planEvals(loaded, args.json, context)
  return runAll(loaded, evals, args, context)
}

async function runAll(loaded: readonly LoadedEval[], evals: Evals, args: EvalArguments, context: CommandContext) {
  const { printOutcome, writeReports } = await import('./print-outcome.ts')
  const [outcomes, codes]: [EvalOutcome[], number[]] = [[], []]
  try {
    for (const one of loaded) {
      const outcome = await runEval(one, evals, args, context)
      outcomes.push(outcome)
      printOutcome(outcome, args, context)
      codes.push(args.updateBaseline ? await updateBaseline(one, outcome, evals, context) : codeOf(outcome, args))
    }
  } catch (error) {
    if (error !== interrupted) throw error
    const names = loaded.slice(outcomes.length).map(({ name }) => `"${visible(name)}"`)
    context.stderr.write(`Stopped. The earlier results of ${names.join(', ')} are unchanged.\n`)
    return exitCodes.aborted
  } finally {
    await writeReports(outcomes, args, context)
  }
  return [exitCodes.failed, exitCodes.invalid, exitCodes.undecided].find((code) => codes.includes(code)) ?? exitCodes.ok
}

function codeOf({ report }: EvalOutcome, { allowUndecided }: EvalArguments): number {
  const { verdict = 'pass' } = report
  if (verdict === 'undecided' && allowUndecided) return exitCodes.ok
  const { ok, failed, undecided, invalid } = exitCodes
  return { pass: ok, fail: failed, undecided, invalid }[verdict]
}
