// Command transfer serves any number of bytes by HTTPS, with a certificate of its own, until its standard input ends: GET /N is
// N bytes of a fixed stream. It also gets them, and prints their digest.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = listen(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "get":
		err = get(os.Args[2])
	default:
		err = errors.New("transfer serve ADDRESS | transfer get URL")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func listen(address string) error {
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr:              address,
		Handler:           http.HandlerFunc(serve),
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return server.ListenAndServeTLS("", "")
}

// get prints the digest of what a URL holds, whoever serves it.
func get(url string) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the digest says what arrived
	answer, err := client.Get(url)                                                                             //nolint:gosec,noctx // the URL is all that it is asked for, and it ends with its process
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	h := sha256.New()
	if _, err := io.Copy(h, answer.Body); err != nil {
		return err
	}
	_, err = fmt.Printf("%x\n", h.Sum(nil))
	return err
}

// stream is what every answer begins with: no packet of it is like another.
func stream() io.Reader { return mathrand.NewChaCha8([32]byte{}) }

func serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	_, _ = io.CopyN(w, stream(), n)
}

func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
