/**
 * The parts of a sealed place that name the session. Rows of earlier versions were sealed without an agent, and rows of a renamed
 * agent under its former name: each row tells the name that it was sealed with, so that a session that is moved opens.
 */
export function sealedSessionParts(owner: string, sealedAs: string, sessionId: string): readonly string[] {
  return sealedAs === '' ? [owner, sessionId] : [owner, sealedAs, sessionId]
}
