import { described, integerText, mapped, optional, type Schema, text } from './schema.ts'

/** Most characters of a name that a client gives: an id, a key, the owner of a session. */
const maxNameLength = 256

/**
 * The id of a session. `.` and `..` are rejected: as a part of a path they name another path, so such a session could be reached by
 * some protocols only.
 */
export const sessionId: Schema<string> = text({
  min: 1,
  max: maxNameLength,
  code: 'session.invalid_id',
  accepts: (id) => id !== '.' && id !== '..' && isPrintable(id),
  expected: `a session id: 1 to ${maxNameLength} characters, none of them a control character, and neither "." nor ".."`,
})

/** The id of a run, of a call, or of something else that the server or a model has named. */
export const id: Schema<string> = text({
  min: 1,
  max: 1000,
  accepts: isPrintable,
  expected: 'an id of 1 to 1000 characters, without control characters',
})

/** A token of a call. One inside a sub-agent has the tokens of the calls around it, too. */
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

export const owner = described(
  optional(
    text({
      min: 1,
      max: maxNameLength,
      accepts: isPrintable,
      expected: `an owner: 1 to ${maxNameLength} characters, without control characters`,
    }),
  ),
  'Whose session it is, for whom `mayRead` lets read.',
)

export const idempotencyKey = described(
  optional(text({ min: 1, max: maxNameLength })),
  'Who asks again with it gets the same run.',
)

/** What a page of a list is asked by. A cursor is sealed, so its form says nothing. */
export const pageQuery = {
  limit: integerText(1, 100, 20),
  cursor: described(optional(text({ min: 1, max: 8192 })), 'The `cursor` of the page before.'),
}

/** The event that a reader has last, as `<number>.<run>`; anything else is no place, and the stream begins at its start. */
export const lastEventId = described(
  mapped(optional(text({ max: 2000 })), parseEventId),
  'The last event that the reader has.',
) as Schema<{ seq: number; turnId: string } | undefined> & { readonly optional: true }

function parseEventId(value: string | undefined): { seq: number; turnId: string } | undefined {
  const [, seq, turnId] = /^(\d{1,15})\.(.+)$/.exec(value ?? '') ?? []
  return turnId === undefined || !isPrintable(turnId) ? undefined : { seq: Number(seq), turnId }
}

/** No control character and no half of a character: databases cannot keep some of them, and logs are read by line. */
export function isPrintable(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  return !/[\u0000-\u001f\u007f\ud800-\udfff]/u.test(value)
}
