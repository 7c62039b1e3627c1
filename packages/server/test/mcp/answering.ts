import type { Model } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'

/** A model whose n-th step answers the n-th call of each session. */
export function answering(...steps: ScriptedStep[]): Model {
  return {
    id: 'fixture',
    stream: (request) => {
      const done = request.messages.filter(({ role }) => role === 'assistant').length
      return scriptedModel([steps[done] ?? 'Nothing more.']).stream(request)
    },
  }
}
