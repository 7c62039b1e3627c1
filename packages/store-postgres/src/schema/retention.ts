/** Matches a run that is retained: by the time since its end, or since its last append if it never ended. */
export const isRetained = (ttl: string) =>
  `(r.ended_at is null and r.touched_at > {s}.now_ms() - 2592000000 or r.ended_at > {s}.now_ms() - ${ttl})`
