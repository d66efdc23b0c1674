"""The configuration of haproxy: people to nodes with sticky sessions, nodes to the gateways of the store."""

from __future__ import annotations

from collections.abc import Mapping

HERE = "127.0.0.1"

_CONFIGURATION = """\
# Written by python -m bench.cluster; docs/cluster.md says why each line is there.
global
    maxconn 2000
    stats socket {socket} mode 600 level admin
    log stdout format raw local0 notice

defaults
    mode http
    log global
    option forwardfor
    option redispatch 1
    retries 3
    timeout connect 1s
    timeout check 1s
    timeout client 130s
    timeout server 120s
    timeout queue 10s
    timeout tunnel 1h
    timeout http-request 15s
    timeout http-keep-alive 60s

frontend people
    bind {here}:{people}
    http-request set-header X-Forwarded-Proto http
    default_backend nodes

backend nodes
    balance leastconn
    cookie concord_node insert indirect nocache preserve httponly attr "SameSite=Lax"
    option httpchk GET /_stcore/health
    http-check send hdr Host {here}
    http-check disable-on-404
    option http-server-close
    retry-on conn-failure empty-response response-timeout
    http-request disable-l7-retry unless METH_GET
    http-response set-header X-Concord-Node %s
    default-server check inter 700ms fastinter 300ms fall 2 rise 2 observe layer4 error-limit 5 on-error mark-down \
on-marked-down shutdown-sessions
{nodes}

frontend store
    bind {here}:{store}
    default_backend gateways

backend gateways
    balance roundrobin
    option httpchk GET /healthz
    retry-on conn-failure
    default-server check inter 1s fastinter 300ms fall 2 rise 2 observe layer4 error-limit 3 on-error mark-down
{gateways}
"""


def configuration(ports: Mapping[str, int], socket: str) -> str:
    """The whole file. A request that may have changed something is never sent twice; one that only reads is."""
    nodes = [name for name in ports if name.startswith("node-")]
    gateways = [name for name in ports if name.startswith("gateway-")]
    return _CONFIGURATION.format(
        here=HERE,
        socket=socket,
        people=ports["proxy"],
        store=ports["store"],
        nodes="\n".join(f"    server {name} {HERE}:{ports[name]} cookie {name}" for name in nodes),
        gateways="\n".join(f"    server {name} {HERE}:{ports[name]}" for name in gateways),
    )
