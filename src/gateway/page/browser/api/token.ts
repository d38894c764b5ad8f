const KEY = 'perdure.token';

/** The token of this tab. It is kept until the tab closes. Undefined before the user entered one. */
export function storedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Keeps a token for this tab. */
export function storeToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

/** Forgets the token of this tab. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
