import { planEval, planText } from '@allium/evals/report'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { toLine } from '../print-run.ts'
import type { LoadedEval } from './load-eval.ts'
import { widthOf } from './print-outcome.ts'

/** `allium eval --plan`: prints what the gates can show, and runs nothing. */
export function planEvals(loaded: readonly LoadedEval[], json: boolean, context: CommandContext): number {
  for (const { name, definition } of loaded) {
    const plan = planEval(definition)
    context.stdout.write(
      json ? `${toLine({ type: 'plan', name, ...plan })}\n` : `${planText(name, plan, widthOf(context))}\n`,
    )
  }
  return exitCodes.ok
}
