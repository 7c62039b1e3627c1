/** Yields the data of each server-sent event of a body. @param {AsyncIterable<Uint8Array>} body */
export async function* events(body) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true })
    let end = rest.indexOf('\n\n')
    for (; end >= 0; end = rest.indexOf('\n\n')) {
      const data = dataOf(rest.slice(0, end))
      rest = rest.slice(end + 2)
      if (data !== undefined) yield data
    }
  }
}

function dataOf(event) {
  const at = event.startsWith('data: ') ? 6 : event.indexOf('\ndata: ') + 7
  return at < 6 + 1 && !event.startsWith('data: ') ? undefined : event.slice(at)
}
