/** What a URL may not contain. */

/** Whether a URL has a user or a password before its host. False for text that is no URL. */
export function hasUser(url = ''): boolean {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
