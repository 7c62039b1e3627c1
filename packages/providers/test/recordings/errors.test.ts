import { describe, expect, it } from 'vitest'
import { isTransient } from '../../../shared/src/resilience.ts'
import { failureOf } from '../calls.ts'
import { errorCases } from './parts/errors.ts'
import { partsModel } from './parts/model.ts'

describe('an error inside a stream', () => {
  it.each(errorCases)("keeps the provider's message and status: $title", async ({ specification, parts, status }) => {
    const error = await failureOf(partsModel(parts, specification))
    expect(error).toMatchObject({ code: 'model.failed', message: expect.stringMatching(/: Busy$/) })
    expect((error as { status?: number }).status).toBe(status)
    expect(isTransient(error)).toBe(status !== undefined)
  })
})
