type Listener = (reason: unknown) => void

interface Follower {
  readonly notify: Listener
}

/** All followers of a signal, which share its one listener. */
interface Hub {
  readonly followers: Set<Follower>
  readonly listen: () => void
}

const hubs = new WeakMap<AbortSignal, Hub>()

/**
 * Calls `notify` with the reason when a signal aborts, or at once if it has aborted. All followers of a signal share one
 * listener, because an application may pass one signal to all its runs, and Node warns about the eleventh listener.
 *
 * @returns a function that stops following; call it when the work is over
 */
export function followSignal(signal: AbortSignal, notify: Listener): () => void {
  if (signal.aborted) {
    notify(signal.reason)
    return () => {}
  }
  const hub = hubs.get(signal) ?? hubOf(signal)
  const follower = { notify }
  hub.followers.add(follower)
  return () => {
    hub.followers.delete(follower)
    if (hub.followers.size === 0) dissolve(signal, hub)
  }
}

function hubOf(signal: AbortSignal): Hub {
  const followers = new Set<Follower>()
  const hub: Hub = {
    followers,
    listen: () => {
      dissolve(signal, hub)
      notifyAll(followers, signal.reason)
    },
  }
  signal.addEventListener('abort', hub.listen)
  hubs.set(signal, hub)
  return hub
}

function dissolve(signal: AbortSignal, hub: Hub): void {
  signal.removeEventListener('abort', hub.listen)
  if (hubs.get(signal) === hub) hubs.delete(signal)
}

/** Notifies all followers even if one throws. Then rethrows the first error, which goes to the runtime like any listener's. */
function notifyAll(followers: ReadonlySet<Follower>, reason: unknown): void {
  const errors: unknown[] = []
  for (const { notify } of followers)
    try {
      notify(reason)
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
}
