import { AlliumError } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import { cleaner, type Scrub } from '@allium/shared/recording'
import type { Answers } from '../run/answers.ts'
import { readAnswers, writeAnswers } from './answer-file.ts'
import { type AnswersMode, modes } from './answers-mode.ts'
import { type AnswersSummary, RecordedAnswers } from './recorded-answers.ts'
import { RecordingTrial } from './recording-trial.ts'

export interface OpenAnswersOptions {
  mode: AnswersMode
  /** Texts to remove in addition to credentials; also values that differ between runs, such as a date. @default [] */
  scrub?: Scrub | undefined
}

/** A file of recorded answers in use. Pass it to `evaluate({ answers })`. */
export interface OpenedAnswers extends Answers {
  readonly mode: AnswersMode
  /**
   * Returns what happened to the answers. Writes the file, unless the mode is `replay`. Call it after `evaluate()`.
   *
   * @param options.prune whether answers that no request asked for are removed. Set it to false after a part of the cases @default true
   */
  save(options?: { prune?: boolean | undefined }): Promise<AnswersSummary>
}

const known: KeysOf<OpenAnswersOptions> = { mode: true, scrub: true }

/**
 * Opens a file of recorded model answers, so that an evaluation needs neither a key nor a network, for example in CI.
 *
 * Each model call of an agent, of its sub-agents and of judges is stored with a digest of the request as sent, and with the chunks of the
 * answer. An answer is used for exactly this request. If there is none, the trial is invalid. The file contains the texts of the answers.
 *
 * @throws AlliumError `options.invalid` for a file that is missing or damaged; the error of the file system
 * @example
 * const answers = await openAnswers('evals/support.answers.jsonl', { mode: process.env.CI ? 'replay' : 'missing' })
 * const report = await evaluate({ agent, cases, scorers, answers })
 * const { stale } = await answers.save()
 */
export async function openAnswers(path: string, options: OpenAnswersOptions): Promise<OpenedAnswers> {
  checkOptions(options, known, 'openAnswers()', 'options.invalid')
  const { mode, scrub } = options
  if (!modes.includes(mode))
    throw invalid(`The option mode of openAnswers() takes ${modes.join(', ')}, not ${describe(mode)}.`)
  const stored = await readAnswers(path)
  if (stored === undefined && mode === 'replay')
    throw invalid(`There are no recorded answers at ${path}. Record them with the mode "record", and commit the file.`)
  const answers = new RecordedAnswers(stored ?? [])
  const clean = cleaner(scrub)
  const caseIds: string[] = []
  return {
    mode,
    trial(caseId, trial) {
      if (!caseIds.includes(caseId)) caseIds.push(caseId)
      return new RecordingTrial({ answers, mode, clean, source: path }, caseId, trial)
    },
    async save({ prune = true } = {}) {
      if (mode !== 'replay') await writeAnswers(path, answers.lines(caseIds, prune))
      return answers.summary()
    },
  }
}

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
