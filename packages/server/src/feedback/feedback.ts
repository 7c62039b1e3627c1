import { AlliumError, messageOf } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { FeedbackEvent, FeedbackStore, MakeRateCounter } from '@allium/store'
import type { Access, StoreReader } from '../host/host.ts'
import type { CollectFeedback } from '../options/options.ts'
import type { Serve } from '../request/router.ts'
import { FeedbackCounts } from './counts.ts'
import { feedbackRoutes } from './feedback-routes.ts'
import { Rate } from './rate.ts'

export interface FeedbackOptions {
  /** @default the part `feedback` of the store that the agent was created with */
  store?: FeedbackStore | undefined
  /** How often a person may change feedback within a minute. @default 30 */
  perMinute?: number | undefined
  /** Counts that in all processes, such as `limits` of `redis()`. @default each process counts for itself */
  limits?: MakeRateCounter | undefined
  /** Receives each change, for example `feedbackEvaluations(logger)` of `@allium/observe/otel`. What it throws is logged. @default none */
  onFeedback?: ((event: FeedbackEvent) => void | Promise<void>) | undefined
}

/** The feedback of a server. */
export interface ServedFeedback extends CollectFeedback {
  /** Returns the changes that this process has stored, as counters in Prometheus' text format. Pass it as `collect` of the option `metrics`. */
  prometheus(): string
}

const optionKeys: KeysOf<FeedbackOptions> = { store: true, perMinute: true, limits: true, onFeedback: true }

/**
 * Lets callers give feedback on the runs that they may read: thumbs or a score, a comment and tags. Each person has one feedback on a run, and
 * may change it.
 *
 * @throws AlliumError `server.options`
 * @example
 * const agent = new Agent({ model, store: sqlite('chats.db') })
 * server(agent, { principal, feedback: feedback() })
 */
export function feedback(options: FeedbackOptions = {}): ServedFeedback {
  checkOptions(options, optionKeys, 'feedback()', 'server.options')
  const { store, perMinute = 30, limits, onFeedback } = options
  if (!Number.isSafeInteger(perMinute) || perMinute < 1)
    throw new AlliumError(
      'server.options',
      `feedback() got perMinute: ${String(perMinute)}. Pass a whole number from 1.`,
    )
  const counts = new FeedbackCounts()
  let rate: Rate | undefined
  return {
    prometheus: () => counts.text(),
    routes(serve: Serve, host: Access & StoreReader) {
      for (const agent of host.agents.values())
        if ((store ?? agent.store?.feedback) === undefined) throw missingStore(agent.name)
      rate ??= new Rate(perMinute, host.clock, limits, 'feedback')
      feedbackRoutes(serve, host, {
        rate,
        storeOf: ({ agent }) => (store ?? agent.store?.feedback) as FeedbackStore,
        async changed(event) {
          counts.count(event)
          try {
            await onFeedback?.(event)
          } catch (error) {
            host.logger.warn(`The function onFeedback of feedback() threw an error: ${messageOf(error)}`)
          }
        },
      })
    },
  }
}

function missingStore(agent: string): AlliumError {
  return new AlliumError(
    'server.options',
    `feedback() has no store for the agent "${agent}". Create the agent with a store that has feedback, such as sqlite('chats.db'), or pass feedback({ store: store.feedback }).`,
  )
}
