"""Kubernetes control plane on this machine: etcd, API server, controllers and scheduler.

No node runs containers. `scripts/build_cluster.sh` builds the binaries.
"""

import base64
import json
import secrets
import ssl
import subprocess
from pathlib import Path

import httpx
import trustme

from tests.cluster.networks import HOST, SERVICES, SERVICES_IPV6
from tests.helm.charts import ROOT
from tests.suite.ports import free_port
from tests.suite.waiting import until

BINARIES = ROOT / "build" / "cluster"
_ISSUER = "https://kubernetes.default.svc"
# Nodes without a kubelet send no heartbeat: this controller would evict their pods.
_CONTROLLERS = "*,-node-lifecycle-controller"
_ALONE = ("--leader-elect=false", "--secure-port=0")
_SERVER = "kube-apiserver"


def is_built() -> bool:
    """Return whether the binaries are there."""
    return any(BINARIES.glob("whole-*"))


class ControlPlane:
    """Processes of one cluster.

    Attributes:
        url: address of the API server, the same after a restart.
        ca: file with the authority that signed its certificate.
        token: of an administrator.
        kubeconfig: file with address, authority and token.
        node_kubeconfig: the same, with the address that a node reaches.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._etcd, self._port = f"http://127.0.0.1:{free_port()}", free_port()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.url = f"https://127.0.0.1:{self._port}"
        self.ca, self.kubeconfig = folder / "ca.pem", folder / "kubeconfig"
        self.node_kubeconfig = folder / "node-kubeconfig"
        self.token = secrets.token_hex(16)

    def start(self) -> None:
        """Start all processes; return when the API server is ready."""
        self._write_files()
        self._start_etcd()
        self.start_server()
        paces = ("--kube-api-qps=200", "--kube-api-burst=400")
        common = (*paces, "--kubeconfig", f"{self.kubeconfig}", *_ALONE)
        keys = ("--root-ca-file=ca.pem", "--service-account-private-key-file=key.pem")
        fast = ("--horizontal-pod-autoscaler-sync-period=1s", f"--controllers={_CONTROLLERS}")
        self._start("kube-controller-manager", *common, *keys, *fast)
        self._start("kube-scheduler", *common)

    def start_server(self) -> None:
        """Start the API server, and wait until it is ready."""
        self._start(
            _SERVER,
            *("--etcd-servers", self._etcd),
            # Nodes and pods reach it by another address than the tests do.
            *("--bind-address=0.0.0.0", f"--secure-port={self._port}"),
            f"--advertise-address={HOST}",
            f"--service-cluster-ip-range={SERVICES},{SERVICES_IPV6}",
            *("--tls-cert-file=cert.pem", "--tls-private-key-file=key.pem"),
            *("--service-account-key-file=key.pem", f"--service-account-issuer={_ISSUER}"),
            "--service-account-signing-key-file=key.pem",
            *("--token-auth-file=tokens.csv", "--authorization-mode=RBAC"),
        )
        until(self._is_ready, describe=lambda: self.log(_SERVER))

    def kill_server(self) -> None:
        """Kill the API server; etcd goes on."""
        self._processes[_SERVER].kill()  # SIGTERM lets watches go on for a minute
        self._stop(_SERVER)

    def compact(self) -> None:
        """Have etcd forget old versions: a watch from one of them is answered 410."""
        key = base64.b64encode(b"\0").decode()
        header = self._ask_etcd("range", key=key)["header"]
        self._ask_etcd("compaction", revision=header["revision"], physical=True)

    def stop(self) -> None:
        """End all processes, those that depend on others first."""
        for name in reversed(list(self._processes)):
            if name == _SERVER:
                self.kill_server()
            else:
                self._stop(name)

    def log(self, name: str) -> str:
        """Return the end of what a process has written."""
        return (self._folder / f"{name}.log").read_text()[-3_000:]

    def _write_files(self) -> None:
        authority = trustme.CA()
        names = ("127.0.0.1", "localhost", HOST, "kubernetes.default.svc")
        certificate = authority.issue_cert(*names)
        authority.cert_pem.write_to_path(self.ca)
        certificate.private_key_pem.write_to_path(self._folder / "key.pem")
        certificate.cert_chain_pems[0].write_to_path(self._folder / "cert.pem")
        (self._folder / "tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')
        self._write_kubeconfig(self.kubeconfig, self.url)
        self._write_kubeconfig(self.node_kubeconfig, f"https://{HOST}:{self._port}")

    def _write_kubeconfig(self, file: Path, url: str) -> None:
        cluster = {"server": url, "certificate-authority": f"{self.ca}"}
        config = {
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **config}))

    def _start_etcd(self) -> None:
        peers = f"http://127.0.0.1:{free_port()}"
        self._start(
            "etcd",
            *("--data-dir=etcd", "--unsafe-no-fsync", "--log-level=warn"),
            *("--listen-client-urls", self._etcd, "--advertise-client-urls", self._etcd),
            *("--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers),
            *("--initial-cluster", f"default={peers}"),
        )

    def _ask_etcd(self, what: str, **body: object) -> dict[str, dict[str, str]]:
        answer = httpx.post(f"{self._etcd}/v3/kv/{what}", json=body, timeout=30)
        answer.raise_for_status()
        found: dict[str, dict[str, str]] = answer.json()
        return found

    def _is_ready(self) -> bool:
        assert self._processes[_SERVER].poll() is None, self.log(_SERVER)
        trusted = ssl.create_default_context(cafile=self.ca)
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            return httpx.get(f"{self.url}/readyz", verify=trusted, headers=headers).is_success
        except httpx.TransportError:
            return False

    def _start(self, name: str, *arguments: str) -> None:
        with (self._folder / f"{name}.log").open("ab") as log:
            given = {"stdout": log, "stderr": log, "cwd": self._folder}
            # It ends with pytest, also where pytest is killed.
            command = ["setpriv", "--pdeathsig", "KILL", str(BINARIES / name), *arguments]
            self._processes[name] = subprocess.Popen(command, **given)  # type: ignore[call-overload]

    def _stop(self, name: str) -> None:
        process = self._processes.pop(name)
        process.terminate()
        process.wait(60)
