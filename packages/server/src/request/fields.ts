import { described, integerText, mapped, optional, type Schema, text } from './schema.ts'

/** Most characters of a name that a client sends: an id, a key, the owner of a session. */
const maxNameLength = 256

/** The id of a session. Rejects `.` and `..`: as a path segment they name another path, so only some protocols could reach the session. */
export const sessionId: Schema<string> = text({
  min: 1,
  max: maxNameLength,
  code: 'session.invalid_id',
  accepts: (value) => value !== '.' && value !== '..' && isPrintable(value),
  expected: `a session id: 1 to ${maxNameLength} characters, none of them a control character, and neither "." nor ".."`,
})

/** The id of a run, a call, or anything else that the server or a model named. */
export const id: Schema<string> = text({
  min: 1,
  max: 1000,
  accepts: isPrintable,
  expected: 'an id of 1 to 1000 characters, without control characters',
})

/** The id that a client gives a message. */
export const messageId: Schema<string> = text({
  min: 1,
  max: maxNameLength,
  accepts: isPrintable,
  expected: `a message id: 1 to ${maxNameLength} characters, none of them a control character`,
})

/** The token of a call. In a sub-agent it includes the tokens of the calls around it. */
export const token: Schema<string> = text({
  min: 1,
  max: 10_000,
  accepts: isPrintable,
  expected: 'a token: 1 to 10000 characters, without control characters',
})

/** The name of a file of a session, as `/messages` links to it. */
export const fileName: Schema<string> = text({ min: 1, max: maxNameLength })

/** The name of an agent in a path or a body. */
export const agentName: Schema<string> = text({ min: 1, max: maxNameLength })

export const owner = ownerOf(1)

/** The owner of a session that another process stored. It is empty if that process ran without a principal. */
export const storedOwner = ownerOf(0)

function ownerOf(min: 0 | 1) {
  const length = min === 0 ? `at most ${maxNameLength}` : `1 to ${maxNameLength}`
  const name = text({
    min,
    max: maxNameLength,
    accepts: isPrintable,
    expected: `an owner: ${length} characters, without control characters`,
  })
  return described(optional(name), 'The owner of the session. `canRead` decides whether the caller may read it.')
}

export const idempotencyKey = described(
  optional(text({ min: 1, max: maxNameLength })),
  'A repeated request with the same key gets the same run.',
)

/** The query parameters of a page. A cursor is sealed, so its format is not checked. */
export const pageQuery = {
  limit: integerText(1, 100, 20),
  cursor: described(optional(text({ min: 1, max: 8192 })), 'The `cursor` of the previous page.'),
}

/** The last event that the reader has, as `<number>.<run>`. For any other value the stream begins at its start. */
export const lastEventId = described(
  mapped(optional(text({ max: 2000 })), parseEventId),
  'The last event that the client received.',
) as Schema<{ seq: number; turnId: string } | undefined> & { readonly optional: true }

function parseEventId(value: string | undefined): { seq: number; turnId: string } | undefined {
  const [, seq, turnId] = /^(\d{1,15})\.(.+)$/.exec(value ?? '') ?? []
  return turnId === undefined || !isPrintable(turnId) ? undefined : { seq: Number(seq), turnId }
}

/** Returns false for control characters and lone surrogates: databases cannot store some of them, and logs are read by line. */
export function isPrintable(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that it looks for
  return !/[\u0000-\u001f\u007f\ud800-\udfff]/u.test(value)
}
