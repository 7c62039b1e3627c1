import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../calls.ts'
import { bytesOf, contentTypeOf, replay } from './recording.ts'
import { inVersions } from './shapes/index.ts'
import { recordings } from './shapes/stream-errors.ts'

describe.each(recordings.flatMap((one) => inVersions('stream errors', one)))('$title', ({ recording, version }) => {
  it('fails with what the provider says, and with the status by which it is repeated', async () => {
    const { fetch } = replay(recording.answers.map(bytesOf), contentTypeOf(recording))
    const error = await failureOf(fromAiSdk(recording.models[version]!(fetch)))
    const { message, ...status } = recording.fails!
    expect(error).toMatchObject({ message: expect.stringContaining(message), ...status })
  })
})
