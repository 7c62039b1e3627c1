import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { FeedbackEvent } from '@allium/store'
import { type Attributes, context } from '@opentelemetry/api'
import { alliumNames, conventionsOf } from './conventions.ts'
import { type EventLogger, recordEvaluation } from './event-logger.ts'

export interface FeedbackEvaluationOptions {
  /** The name of the evaluation. @default 'user_feedback' */
  name?: string | undefined
  /** Whether to send comments, which people write freely. @default false */
  content?: boolean | undefined
}

const optionKeys: KeysOf<FeedbackEvaluationOptions> = { name: true, content: true }

/**
 * Returns a listener that sends stored feedback as the event `gen_ai.evaluation.result`. The spans of a turn have the same `allium.turn.id` and
 * `gen_ai.conversation.id`. OpenTelemetry has no event for removed feedback, so none is sent for it.
 *
 * @throws AlliumError `options.invalid` for an unknown option
 * @example
 * server(agent, { principal, feedback: feedback({ onFeedback: feedbackEvaluations(logs.getLogger('feedback')) }) })
 */
export function feedbackEvaluations(
  events: EventLogger,
  options: FeedbackEvaluationOptions = {},
): (event: FeedbackEvent) => void {
  checkOptions(options, optionKeys, 'feedbackEvaluations()', 'options.invalid')
  const { name = 'user_feedback', content = false } = options
  return ({ run: { key, turnId }, feedback }) => {
    if (feedback === undefined) return
    const { score, comment } = feedback
    const of: Attributes = {
      [conventionsOf('latest').attributes.conversation as string]: key.sessionId,
      [alliumNames.turn]: turnId,
      [alliumNames.tenant]: key.tenant,
    }
    const logger: EventLogger = {
      emit: (record) => events.emit({ ...record, attributes: { ...record.attributes, ...of } }),
    }
    const explanation = content ? comment : undefined
    recordEvaluation(logger, { name, score, label: labelOf(score), explanation }, { traceContext: context.active() })
  }
}

function labelOf(score: number): string {
  if (score === 0.5) return 'neutral'
  return score > 0.5 ? 'up' : 'down'
}
