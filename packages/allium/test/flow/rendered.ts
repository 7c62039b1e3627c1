import MarkdownIt from 'markdown-it'

const markdown = new MarkdownIt({ html: true, linkify: true })
markdown.validateLink = () => true

/** Where a page leads, or what it fetches, that shows the text: as Markdown with HTML in it, as HTML, as JSON of such texts. */
export function leads(text: string): string[] {
  return [markdown.render(text), text, ...inJson(text)].flatMap(inHtml)
}

const attribute = /[\s"'/](?:src|href|poster|data|action|srcset|style|xlink:href)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi

function inHtml(html: string): string[] {
  const found = [...html.matchAll(/<[a-z](?:"[^"]*"|'[^']*'|[^'">])*>|<[a-z][^>]*>/gi)].flatMap(([tag]) =>
    [...tag.matchAll(attribute)].map(([, value = '']) => value.replace(/^["']|["']$/g, '')),
  )
  const styles = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/gi)].map(([, style = '']) => style)
  return [...found, ...styles].filter((value) => /(?:^|[\s(,])(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(decoded(value)))
}

function inJson(text: string): string[] {
  try {
    return Object.values(JSON.parse(text) as object).flatMap((value) =>
      typeof value === 'string' ? [markdown.render(value)] : [],
    )
  } catch {
    return []
  }
}

function decoded(value: string): string {
  return value
    .replace(/[\t\n]/g, '')
    .replace(/&#x3a;|&#58;|&colon;/gi, ':')
    .replace(/&#47;|&sol;/gi, '/')
}
