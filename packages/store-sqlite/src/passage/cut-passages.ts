export const ofSession = 'tenant = ?1 and owner = ?2 and agent = ?3 and session = ?4'

/** Deletes the passages of a session from a message on. */
export const cutPassages = `delete from passages where ${ofSession} and position > coalesce((
  select position from passages where ${ofSession} and idx < ?5 order by position desc limit 1), -1)`
