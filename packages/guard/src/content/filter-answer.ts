import type { ModelContext, ModelResponse } from '@allium/core'
import type { FailurePolicy } from '../rules/failure-options.ts'
import { handleFailure } from '../rules/run-check.ts'
import { dropMetadata } from '../text/map-message.ts'
import { filterStream } from './stream-filter.ts'
import type { TextFilter } from './text-filter.ts'

/** Sends a model's answer through a filter while it streams. */
export async function filterAnswer(
  ctx: ModelContext,
  next: () => Promise<ModelResponse>,
  filter: TextFilter,
  guard: FailurePolicy,
): Promise<ModelResponse> {
  const changedKinds = new Set<string>()
  ctx.pipe(
    filterStream(
      filter,
      (error) => handleFailure(ctx, guard, error),
      (kind) => changedKinds.add(kind),
    ),
  )
  const response = await next()
  response.message = dropMetadata(response.message, changedKinds)
  return response
}
