"""OpenID Connect: the authorization code flow with PKCE. A token counts only with a right signature, issuer, audience,
time and nonce.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from core.adapters.web.http import Status, client_options, get, why_failed
from core.adapters.web.retries import DeadlineExceeded, Retryable
from core.errors import BadInput, Refused, Unavailable
from core.settings import SYMMETRIC, ProviderSettings

SECONDS = 10.0  # that a call of the provider may take
FRESH = 3600.0  # seconds for which the provider's own description is kept
SHORTEST_RSA = 2048  # bits
LEEWAY = 60  # seconds that the provider's clock may differ
LARGEST = 1 << 20  # bytes of an answer
SCOPE = "openid email profile"
ProviderTokens = Mapping[str, str]  # of the provider, by name


class OidcProvider:
    """One provider, as its metadata describes it."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._metadata: dict[str, Any] = {}
        self._keys: Any = None
        self._read_at = float("-inf")

    def metadata(self) -> dict[str, Any]:
        """The provider's description of itself, read again every hour."""
        if time.monotonic() - self._read_at > FRESH:
            self._metadata, self._keys = self._get(self.settings.server_metadata_url), None
            self._read_at = time.monotonic()
        return self._metadata

    def authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        asked = {"scope": SCOPE, **self.settings.client_kwargs}
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._endpoint("authorization_endpoint"), state, verifier, nonce=nonce, **asked
            )
        return str(url)

    def check_issuer(self, named: str | None) -> None:
        """Refuse an answer of another provider (RFC 9207), and one without a name where this one announces that it
        says it.
        """
        announced = self.metadata().get("authorization_response_iss_parameter_supported") is True
        if named != self._endpoint("issuer") and (announced or named is not None):
            raise Refused("The answer came from another provider than the one that was asked (iss). Start again.")

    def claims(self, code: str, verifier: str, nonce: str) -> tuple[dict[str, Any], ProviderTokens]:
        """Who came back: the checked claims of the id token, completed by userinfo where an address or groups are
        missing; and the tokens with which that can be asked again."""
        with self._client() as client:
            given = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
            token = self._token(client, **given)
            claims = self._checked(str(token.get("id_token") or ""), nonce)
            wanted = {"email", "email_verified", *([self.settings.role_claim] if self.settings.roles else [])}
            if wanted - set(claims) and self.metadata().get("userinfo_endpoint") and token.get("access_token"):
                found = self._userinfo(client, str(claims["sub"]))
                if len({each["email"] for each in (claims, found) if each.get("email")}) > 1:
                    found.pop("email_verified", None)  # it is said of another address
                claims = {**found, **claims}
        return claims, _kept(token)

    def renewed(self, tokens: ProviderTokens, subject: str) -> tuple[dict[str, Any], ProviderTokens]:
        """What the provider says now of somebody who signed in before: by userinfo, and where that names no groups or
        the access token has run out, by the refresh token. Without claims and tokens where neither helps; Refused
        where it vouches no more."""
        with self._client() as client:
            client.token = {"access_token": tokens.get("access_token", ""), "token_type": "Bearer"}
            with suppress(Unavailable, Refused):
                if (found := self._userinfo(client, subject)) and self.settings.role_claim in found:
                    return found, tokens
            if not tokens.get("refresh_token"):
                return {}, {}
            token = self._token(client, grant_type="refresh_token", refresh_token=tokens["refresh_token"])
            claims = self._checked(str(token["id_token"]), None) if token.get("id_token") else {}
            if claims.get("sub", subject) != subject:
                raise Refused("The provider's token is about another person. Sign in again.")
            if self.settings.role_claim not in claims and self.metadata().get("userinfo_endpoint"):
                claims = {**self._userinfo(client, subject), **claims}
        return claims, {**tokens, **_kept(token)}

    def sealed(self, secret: str, tokens: ProviderTokens) -> str:
        """Tokens as the workspace keeps them: only who has the secret, the cookie of a session, can read them."""
        from joserfc import jwe

        return jwe.encrypt_compact({"alg": "dir", "enc": "A256GCM"}, json.dumps(tokens), _key(secret)) if tokens else ""

    def unsealed(self, secret: str, text: str) -> ProviderTokens:
        """The tokens again; none where another secret sealed them."""
        from joserfc import jwe
        from joserfc.errors import JoseError

        try:
            return dict(json.loads(jwe.decrypt_compact(text, _key(secret)).plaintext or b"{}"))
        except (JoseError, ValueError):
            return {}

    def end_session_url(self, back: str) -> str:
        """Where people sign out of the provider itself; "" where it offers no such thing."""
        endpoint = self.metadata().get("end_session_endpoint")
        parameters = {"client_id": self.settings.client_id, "post_logout_redirect_uri": back}
        return f"{endpoint}?{urlencode(parameters)}" if endpoint else ""

    # ------------------------------------------------------------ steps

    def _client(self) -> Any:
        from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]

        offered = self.metadata().get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"
        return OAuth2Client(
            self.settings.client_id,
            self.settings.client_secret or None,
            token_endpoint_auth_method=method if self.settings.client_secret else "none",
            redirect_uri=self.settings.redirect_uri,
            code_challenge_method="S256",
            **client_options(self.settings.server_metadata_url, SECONDS),
        )

    def _token(self, client: Any, **given: str) -> Mapping[str, Any]:
        import httpx2
        from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]

        try:
            token: Mapping[str, Any] = client.fetch_token(self._endpoint("token_endpoint"), **given)
        except AuthlibBaseError as error:
            why = " ".join(str(error.description or error.error).split())[:200]
            raise Refused(f"The provider refused to finish the sign-in: {why}. Start again.") from None
        except (httpx2.HTTPError, ValueError) as error:
            raise _unreachable(why_failed(error)) from None
        return token

    def _checked(self, text: str, nonce: str | None) -> dict[str, Any]:
        """The claims of an id token, if everything about it is right."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        issuer = self._endpoint("issuer")
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": self.settings.client_id},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={} if nonce is None else {"essential": True, "value": nonce},
        )
        try:
            token = self._decoded(text)
            registry.validate(token.claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise Refused(
                f"The provider's token is not right ({_reason(error)}). Start again, or tell an admin."
            ) from None
        own = self.settings.client_id
        if token.claims.get("azp", own if token.claims["aud"] in (own, [own]) else "") != own:
            raise Refused("The provider's token was made for another application (azp). Start again, or tell an admin.")
        if not isinstance(token.claims["sub"], str) or not token.claims["sub"]:
            raise Refused("The provider's token has no subject (sub). Tell an admin.")
        return dict(token.claims)

    def _decoded(self, text: str) -> Any:
        """The token with its signature checked; keys are read again once, since providers exchange them."""
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError
        from joserfc.jwk import OctKey

        allowed = list(self.settings.algorithms)
        if _algorithm(text) in SYMMETRIC:
            return jwt.decode(text, OctKey.import_key(self.settings.client_secret), algorithms=allowed)
        try:
            return jwt.decode(text, self._key_set(), algorithms=allowed)
        except InvalidKeyIdError:
            self._keys = None
            return jwt.decode(text, self._key_set(), algorithms=allowed)

    def _key_set(self) -> Any:
        from joserfc.jwk import KeySet

        if self._keys is None:
            keys = self._get(self._endpoint("jwks_uri")).get("keys", [])
            self._keys = KeySet.import_key_set({"keys": list(filter(_signs, keys))})
        return self._keys

    def _userinfo(self, client: Any, subject: str) -> dict[str, Any]:
        """What the provider tells beside the token, if it is about the same person."""
        import httpx2

        try:
            answer = client.get(self._endpoint("userinfo_endpoint"))
            answer.raise_for_status()
            found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise _unreachable(why_failed(error)) from None
        if not isinstance(found, dict) or found.get("sub") != subject:
            raise Refused(
                "The provider's userinfo is about another person than its token. Start again, or tell an admin."
            )
        return found

    # ------------------------------------------------------------ the provider's own description

    def _endpoint(self, name: str) -> str:
        value = self.metadata().get(name)
        if not isinstance(value, str) or not value:
            raise BadInput(f"The provider's metadata at {self.settings.server_metadata_url} name no {name}.")
        return value

    def _get(self, url: str) -> dict[str, Any]:
        try:
            found = get(url, SECONDS, LARGEST)
        except DeadlineExceeded:
            raise _unreachable(f"no answer within {SECONDS:g} s") from None
        except (Retryable, Status, Unavailable) as error:
            raise _unreachable(str(error).rstrip(".")) from None
        if not isinstance(found, dict):
            raise Unavailable("The sign-in provider answers with something that is not a description. Tell an admin.")
        return found


def _kept(token: Mapping[str, Any]) -> ProviderTokens:
    return {name: str(token[name]) for name in ("access_token", "refresh_token") if token.get(name)}


def _signs(key: Any) -> bool:
    """Whether a published key is one to check signatures with; RSA keys under 2,048 bits are too short.

    >>> [_signs(key) for key in ({"kty": "EC"}, {"kty": "EC", "use": "enc"}, {"kty": "RSA", "n": "A" * 171}, 7)]
    [True, False, False, False]
    """
    if not isinstance(key, dict) or key.get("kty") not in ("RSA", "EC", "OKP") or key.get("use", "sig") != "sig":
        return False
    return key["kty"] != "RSA" or len(str(key.get("n", ""))) * 6 >= SHORTEST_RSA


def _key(secret: str) -> Any:
    from joserfc.jwk import OctKey

    return OctKey.import_key(hashlib.sha256(f"provider={secret}".encode()).digest())


def _algorithm(text: str) -> str:
    """The algorithm that a token claims to be signed with."""
    from joserfc import jws

    return str(jws.extract_compact(text.encode()).headers().get("alg"))


def _unreachable(why: str) -> Unavailable:
    return Unavailable(
        f"The sign-in provider cannot be reached ({why}). Try again in a moment; if it lasts, tell an admin."
    )


def _reason(error: Exception) -> str:
    """What is wrong with a token, in a few words.

    >>> _reason(ValueError("no such key"))
    'no such key'
    """
    described = getattr(error, "description", "") or getattr(error, "error", "") or error
    return str(described).replace("_", " ").rstrip(".")[:120]
