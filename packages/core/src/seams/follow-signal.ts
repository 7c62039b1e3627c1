type Listener = (reason: unknown) => void

interface Follower {
  readonly notify: Listener
}

/** All that follow a signal, behind the one listener that it gets. */
interface Hub {
  readonly followers: Set<Follower>
  readonly listen: () => void
}

const hubs = new WeakMap<AbortSignal, Hub>()

/**
 * Calls `told` with the reason when a signal aborts, at once where it has. However many follow, the signal has one
 * listener: an application may give one signal to all its runs, and Node warns of the eleventh listener.
 *
 * @returns what unties the two; call it when the work is over
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

/** What one of them throws keeps the others from nothing, and goes where errors of listeners go. */
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
