/**
 * Returns the parts of a sealing context that name the session. Rows of earlier versions were sealed without an agent, and rows of a
 * renamed agent under its former name. Each row stores the name that it was sealed with, so that a moved session can be opened.
 */
export function sealedSessionParts(owner: string, sealedAs: string, sessionId: string): readonly string[] {
  return sealedAs === '' ? [owner, sessionId] : [owner, sealedAs, sessionId]
}
