import type { Limits } from '../host/host.ts'
import type { Caller } from '../request/caller.ts'
import { respond, type StreamProtocol } from '../response/stream.ts'
import type { EntryReader } from '../run/entry-reader.ts'

/** Returns the frames that a protocol writes before the first event and after the last, without any events. */
export function emptyStream(limits: Limits, { request }: Caller, protocol: StreamProtocol): Response {
  const entries: EntryReader = { take: () => undefined, next: async () => undefined }
  return respond(
    limits,
    { entries, resolvePending: async (pending) => pending, protocol, signal: request.signal },
    () => {},
  )
}
