import { setTimeout as sleep } from 'node:timers/promises'
import type { Model, ModelRequest } from '@allium/core'
import { scriptedModel } from '@allium/testing'

/** A model that takes some milliseconds for an answer. */
export function slowModel(duration: number): Model {
  return {
    id: 'bench/slow',
    async *stream(request: ModelRequest) {
      await sleep(duration)
      yield* scriptedModel(['Done.']).stream(request)
    },
  }
}
